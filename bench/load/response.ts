/**
 * Reads HTTP/1.1 responses from a socket, limited to what this benchmark needs. A general
 * client would spend more on a request than the servers do, and on two cores would be the limit.
 */

export interface ResponseListener {
  /** A piece of the body, without the chunked coding. */
  piece(text: string): void
  end(status: number): void
}

const headEnd = '\r\n\r\n'
const lengthPattern = /\r\ncontent-length: *(\d+)/i
const chunkedPattern = /\r\ntransfer-encoding: *chunked/i

/** What is being read, and how much of it is still to come. */
type Place = 'head' | 'body' | 'size' | 'chunk' | 'gap' | 'trailer'

/** Takes the bytes as latin1 text, where a character is a byte, and calls the listener while parsing. */
export function responseReader(listener: ResponseListener): (text: string) => void {
  let pending = ''
  let place: Place = 'head'
  let left = 0
  let status = 0

  function finish(): void {
    place = 'head'
    listener.end(status)
  }

  function readHead(head: string): void {
    status = Number(head.slice(9, 12))
    const length = lengthPattern.exec(head)
    if (length) {
      left = Number(length[1])
      place = 'body'
      if (left === 0) finish()
    } else if (chunkedPattern.test(head)) place = 'size'
    else throw new Error(`a response without a length: ${head}`)
  }

  /** Up to `left` characters from `at`; returns where it stopped. */
  function readPiece(text: string, at: number): number {
    const end = Math.min(text.length, at + left)
    left -= end - at
    listener.piece(text.slice(at, end))
    if (left === 0) {
      if (place === 'body') finish()
      else place = 'gap'
    }
    return end
  }

  /** One step from `at`; -1 if more bytes are needed. */
  function step(text: string, at: number): number {
    if (place === 'body' || place === 'chunk') return readPiece(text, at)
    const mark = place === 'head' ? headEnd : '\r\n'
    const end = text.indexOf(mark, at)
    if (end < 0) return -1
    if (place === 'head') readHead(text.slice(at, end))
    else if (place === 'gap') place = 'size'
    else if (place === 'trailer') finish()
    else {
      left = Number.parseInt(text.slice(at, end), 16)
      place = left === 0 ? 'trailer' : 'chunk'
    }
    return end + mark.length
  }

  return (text) => {
    const all = pending === '' ? text : pending + text
    let at = 0
    while (at < all.length) {
      const next = step(all, at)
      if (next < 0) break
      at = next
    }
    pending = at === all.length ? '' : all.slice(at)
  }
}
