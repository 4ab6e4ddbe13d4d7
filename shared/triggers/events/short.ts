/** GitHub's push of one commit has 8 KB. To inflate and parse 16 KB takes 0.2 ms; a trip to a thread takes as long. */
const maxShortBytes = 16 * 1024;

/** Says if an event is read on the event loop, in the transaction that decides it. Others wait for a thread. */
export function isShort({ size }: { size: number }): boolean {
  return size <= maxShortBytes;
}
