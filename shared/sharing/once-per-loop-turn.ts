/** Shares reads of a key within a turn of the event loop. */
export function oncePerLoopTurn<Key, Value>(
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const reads = new Map<Key, Promise<Value>>();
  const clear = () => reads.clear();
  return (key) => {
    const known = reads.get(key);
    if (known) return known;
    if (reads.size === 0) setImmediate(clear);
    const started = read(key);
    reads.set(key, started);
    return started;
  };
}
