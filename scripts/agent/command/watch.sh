# Ends a job's processes, also when the agent is killed.
# Standard input, from the agent: the id of the command's session, then signals to send, then "ended" after the
# command. End of input before that: the agent died, and the job's folder $1 goes too.
# With a cgroup $2, its processes are the command's. Without one, those of the session: it has several process
# groups if the command uses `timeout` or `set -m`. Processes that start a session of their own are not found.
trap '' HUP INT QUIT TERM
folder=$1
cgroup=$2

# Prints the command's processes that are not zombies. Without /proc, the session's first process group.
members() {
  [ -n "$session" ] || return
  if [ -n "$cgroup" ]; then
    cat "$cgroup/cgroup.procs" 2>/dev/null
    return
  fi
  if [ ! -r /proc/self/stat ]; then
    kill -0 -- "-$session" 2>/dev/null && echo "-$session"
    return
  fi
  # After the name in brackets: state, parent, group, session. The kernel escapes a line feed in the name.
  cat /proc/[0-9]*/stat 2>/dev/null |
    sed -n "s/^\([0-9]*\) (.*) [^Z] [0-9-]* [0-9-]* $session .*/\1/p"
}

signal() {
  for member in $2; do kill -s "$1" -- "$member" 2>/dev/null; done
}

# Ends what is left: SIGTERM, and SIGKILL after 3 seconds.
end() {
  left=$(members)
  [ -z "$left" ] && return
  signal TERM "$left"
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.3
    left=$(members)
    [ -z "$left" ] && return
  done
  # A process may fork while the list is read.
  for _ in 1 2 3 4 5; do
    signal KILL "$left"
    left=$(members)
    [ -z "$left" ] && return
  done
}

session=
while read -r line; do
  case $line in
  [1-9]*) session=$line ;;
  TERM | KILL) signal "$line" "$(members)" ;;
  ended)
    end
    exit 0
    ;;
  esac
done
end
chmod -R u+w -- "$folder" 2>/dev/null
rm -rf -- "$folder"
[ -z "$cgroup" ] || rmdir "$cgroup"
