# Runs a command once the agent says so. End of input: the agent died before the watcher knew this process.
# Usage: gate.sh cgroup command [argument…], with the agent at descriptor 3. The cgroup may be empty.
read -r _ <&3 || exit 1
exec 3<&-
if [ -n "$1" ]; then
  echo $$ >"$1/cgroup.procs" || exit 1
fi
shift
exec "$@"
