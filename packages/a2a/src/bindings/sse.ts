/** Writes server-sent events: one `data:` line per document, the cursor in `id:`, comments that keep proxies from timing out. */

/** `no` keeps nginx from buffering the stream; the listener keeps the connection open (F-4). */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

export const keepAlive = ': keep-alive\n\n'

/** How many characters are joined into one write. Beyond it a second write costs less than the longer string. */
export const batchChars = 16_384

/** `json` must be one line, which JSON.stringify without indentation always is. */
export function sseFrame(seq: number | undefined, before: string, json: string, after: string): string {
  return seq === undefined ? `data: ${before}${json}${after}\n\n` : `id: ${seq}\ndata: ${before}${json}${after}\n\n`
}

/** The text before the document of a frame. */
export function sseHead(seq: number | undefined): string {
  return seq === undefined ? 'data: ' : `id: ${seq}\ndata: `
}

/** Reads `Last-Event-ID` or its query parameter for browsers. Ignores values that are not ids of this server. */
export function readCursor(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 16 || !/^\d+$/.test(value)) return undefined
  const seq = Number(value)
  return Number.isSafeInteger(seq) ? seq : undefined
}
