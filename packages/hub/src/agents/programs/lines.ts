/** Splits bytes into lines. Invalid UTF-8 becomes replacement characters; the length of a line is limited. */

export interface OutputLine {
  readonly text: string
  /** Its line break; the end of the output; or the limit, after which nothing more is read. */
  readonly endsAt: 'break' | 'end' | 'limit'
}

export const lineFeed = 0x0a
const carriageReturn = 0x0d

export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<OutputLine, void, void> {
  const line = createLineBuffer()
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      line.add(chunk.subarray(from, at))
      if (line.bytes > limitBytes) return yield { text: '', endsAt: 'limit' }
      yield { text: line.take(), endsAt: 'break' }
      from = at + 1
    }
    line.add(chunk.subarray(from))
    if (line.bytes > limitBytes) return yield { text: '', endsAt: 'limit' }
  }
  if (line.bytes > 0) yield { text: line.take(), endsAt: 'end' }
}

/** Buffers an incomplete line. */
export function createLineBuffer() {
  let pieces: Uint8Array[] = []
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    add(piece: Uint8Array): void {
      if (piece.byteLength === 0) return
      pieces.push(piece)
      bytes += piece.byteLength
    },
    take(): string {
      const whole = Buffer.concat(pieces, bytes)
      pieces = []
      bytes = 0
      return whole.toString('utf8', 0, whole.at(-1) === carriageReturn ? whole.length - 1 : whole.length)
    },
  }
}
