/**
 * What is left of a webhook's answer after its status. Of one that took the event nothing is wanted (B-130). Of one that did
 * not, its first words are kept for whoever has to find out why, without the secrets that it was sent and may repeat.
 */

/** So much is read, so that the connection can be used again. */
const drainedBytes = 65_536
const drainMs = 1_000
/** Much more than is kept: a secret that begins in what is kept must be there to its end, to be found. */
const wordsBytes = 16_384
const looseChars = 1_000
const wordsChars = 300
/** Shorter ones would be found in words that mean something else. */
const shortestSecret = 4

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads a little of the rest, and lets go of it. Nobody waits for it. */
export async function drain({ body }: Response): Promise<void> {
  const reader = readerOf(body)
  if (reader !== undefined) await readUpTo(reader, drainedBytes)
}

/** Nothing if it says nothing that can be read. */
export async function firstWords(
  response: Response,
  secrets: readonly (string | undefined)[],
): Promise<string | undefined> {
  if (!isText(response.headers.get('content-type'))) {
    void drain(response)
    return undefined
  }
  const reader = readerOf(response.body)
  if (reader === undefined) return undefined
  const decoder = new TextDecoder()
  const pieces = await readUpTo(reader, wordsBytes)
  const words = tidy(pieces.map((piece) => decoder.decode(piece, { stream: true })).join(''), secrets)
  return words === '' ? undefined : words
}

function readerOf(body: Response['body']): Reader | undefined {
  return (body as ReadableStream<Uint8Array> | null)?.getReader()
}

/** Ends the answer where there is more of it than that, or where it does not come. */
async function readUpTo(reader: Reader, mostBytes: number): Promise<readonly Uint8Array[]> {
  const giveUp = (): void => void reader.cancel().catch(() => {})
  const timer = setTimeout(giveUp, drainMs)
  const pieces: Uint8Array[] = []
  try {
    for (let read = 0; read < mostBytes;) {
      const { done, value } = await reader.read()
      if (done) return pieces
      read += value.byteLength
      pieces.push(value)
    }
    giveUp()
  } catch {
    // Whatever it was: the status was what counts.
  } finally {
    clearTimeout(timer)
  }
  return pieces
}

/** What says nothing of its type is taken for text: that is how frameworks answer when they fail. */
function isText(type: string | null): boolean {
  return type === null || /^text\/|json|xml|x-www-form-urlencoded/i.test(type)
}

function tidy(text: string, secrets: readonly (string | undefined)[]): string {
  let shown = text
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= shortestSecret) shown = shown.replaceAll(secret, '…')
  }
  const plain = shown
    .slice(0, looseChars)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return plain.length > wordsChars ? `${plain.slice(0, wordsChars)}…` : plain
}
