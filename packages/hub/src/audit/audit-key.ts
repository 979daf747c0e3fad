/** The keys of audit batches: UUIDs of version 7, ordered by the time of their writer. */

/** The time in a UUID of version 7: its first 48 bits. */
export function timeOfKey(key: string): number {
  return Number.parseInt(key.slice(0, 8) + key.slice(9, 13), 16)
}

/** No batch of this time or later has a smaller key. */
export function firstKeyOf(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The next greater key. */
export function keyAfter(key: string): string {
  const hex = (BigInt(`0x${key.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
