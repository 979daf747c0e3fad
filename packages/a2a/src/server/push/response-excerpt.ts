/**
 * Reads the body of a webhook's response. The body of a success is dropped (B-130). Of a failure the beginning is kept for the
 * operator, without the secrets of the request that it may repeat.
 */

/** This much is read, so that the connection can be reused. */
const drainedBytes = 65_536
const drainMs = 1_000
/** Much more than is kept: a secret that begins in the kept part must be complete to be found. */
const excerptReadBytes = 16_384
const excerptScanChars = 1_000
const excerptChars = 300
/** Shorter secrets would also match ordinary words. */
const shortestSecret = 4

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads a little of the rest, then cancels it. Not awaited. */
export async function drainResponse({ body }: Response): Promise<void> {
  const reader = readerOf(body)
  if (reader !== undefined) await readUpTo(reader, drainedBytes)
}

/** `undefined` if the response has no readable text. */
export async function responseExcerpt(
  response: Response,
  secrets: readonly (string | undefined)[],
): Promise<string | undefined> {
  if (!isText(response.headers.get('content-type'))) {
    void drainResponse(response)
    return undefined
  }
  const reader = readerOf(response.body)
  if (reader === undefined) return undefined
  const decoder = new TextDecoder()
  const pieces = await readUpTo(reader, excerptReadBytes)
  const words = redactSecrets(pieces.map((piece) => decoder.decode(piece, { stream: true })).join(''), secrets)
  return words === '' ? undefined : words
}

function readerOf(body: Response['body']): Reader | undefined {
  return (body as ReadableStream<Uint8Array> | null)?.getReader()
}

/** Cancels the response if it is longer or does not arrive. */
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
    // Errors are ignored: only the status matters.
  } finally {
    clearTimeout(timer)
  }
  return pieces
}

/** A response without a content type counts as text: frameworks respond like that when they fail. */
function isText(type: string | null): boolean {
  return type === null || /^text\/|json|xml|x-www-form-urlencoded/i.test(type)
}

function redactSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let shown = text
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= shortestSecret) shown = shown.replaceAll(secret, '…')
  }
  const plain = shown
    .slice(0, excerptScanChars)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return plain.length > excerptChars ? `${plain.slice(0, excerptChars)}…` : plain
}
