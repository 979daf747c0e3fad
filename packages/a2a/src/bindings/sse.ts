/** Server-sent events as we write them: one `data:` line a document, the cursor in `id:`, comments to keep proxies awake. */

/** `no` keeps nginx from collecting the stream; the connection itself is for the listener to keep (F-4). */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

export const keepAlive = ': keep-alive\n\n'

/** How much is joined into one write. Beyond it a second write costs less than the longer string. */
export const batchChars = 16_384

/** `json` must be one line, which JSON.stringify without indentation always is. */
export function sseFrame(seq: number | undefined, before: string, json: string, after: string): string {
  return seq === undefined ? `data: ${before}${json}${after}\n\n` : `id: ${seq}\ndata: ${before}${json}${after}\n\n`
}

/** What stands before the document of a frame. */
export function sseHead(seq: number | undefined): string {
  return seq === undefined ? 'data: ' : `id: ${seq}\ndata: `
}

/** From `Last-Event-ID` or its stand-in for browsers. What is not one of our ids is ignored. */
export function readCursor(value: string | undefined): number | undefined {
  if (value === undefined || value.length > 16 || !/^\d+$/.test(value)) return undefined
  const seq = Number(value)
  return Number.isSafeInteger(seq) ? seq : undefined
}
