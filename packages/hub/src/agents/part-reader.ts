/**
 * Reads the content of a part as bytes, wherever it is. A URL in a message comes from the caller, so it is fetched with the
 * guarded fetch, each redirect again, with a size and time limit (B-173). Errors do not reveal what the guard blocks; the
 * cause goes to the log.
 */
import { A2AError, type Part } from '@parley/a2a'
import { type UrlPart, linkSignals } from '@parley/a2a/internal'
import type { AgentServices, PartBytes } from './kind.ts'
import { attempt } from '../json/attempt.ts'

export interface PartReaderOptions {
  readonly guardedFetch: typeof fetch
  /** Limit of one part. Default 20 MB. */
  readonly limitBytes?: number
  /** Time limit of the whole fetch, including redirects. Default 30 s. */
  readonly timeoutMs?: number
}

const maxRedirects = 5

export function createPartReader(options: PartReaderOptions): AgentServices['readPart'] {
  const { guardedFetch, limitBytes = 20_000_000, timeoutMs = 30_000 } = options

  return async (part, signal) => {
    if ('url' in part) return isDataUrl(part.url) ? fromDataUrl(part, limitBytes) : fetched(part, signal)
    return requireWithin(limitBytes, fromPart(part))
  }

  async function fetched(part: UrlPart, callerSignal: AbortSignal): Promise<PartBytes> {
    const { signal, end } = linkSignals([callerSignal], timeoutMs)
    try {
      const response = await follow(part.url, signal)
      const bytes = await readWithin(response, limitBytes)
      const type = part.mediaType ?? bareType(response.headers.get('content-type'))
      return withNameAndType({ bytes }, part.filename ?? filenameIn(part.url), type)
    } catch (cause) {
      callerSignal.throwIfAborted()
      if (cause instanceof A2AError && cause.code === 'PAYLOAD_TOO_LARGE') throw cause
      throw notFetched(signal.aborted ? 'took too long' : 'could not be fetched', cause)
    } finally {
      end()
    }
  }

  /** Follows redirects manually, so that the guard checks every address. */
  async function follow(first: string, signal: AbortSignal): Promise<Response> {
    let url = first
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const response = await guardedFetch(url, { redirect: 'manual', signal })
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      if (location === null && response.ok) return response
      await response.body?.cancel().catch(() => {})
      if (location === null) throw new Error(`${url} returned ${response.status}`)
      url = new URL(location, url).href
    }
    throw new Error(`${first} redirects more than ${maxRedirects} times`)
  }
}

function fromPart(part: Exclude<Part, UrlPart>): PartBytes {
  if ('raw' in part) return withNameAndType({ bytes: Buffer.from(part.raw, 'base64') }, part.filename, part.mediaType)
  const [text, usual] =
    'text' in part ? [part.text, 'text/plain'] : [JSON.stringify(part.data) ?? 'null', 'application/json']
  return withNameAndType({ bytes: Buffer.from(text, 'utf8') }, part.filename, part.mediaType ?? usual)
}

function fromDataUrl(part: UrlPart, limitBytes: number): PartBytes {
  const [, type = '', encoded, content = ''] = /^data:([^,]*?)(;base64)?,(.*)$/is.exec(part.url) ?? []
  // Four base64 characters are three bytes; far too long content is not even decoded.
  if (content.length > limitBytes * 4) throw tooLarge(limitBytes)
  const given = part.mediaType ?? bareType(type === '' ? 'text/plain' : type)
  try {
    const text = decodeURIComponent(content)
    const bytes = Buffer.from(text, encoded === undefined ? 'utf8' : 'base64')
    return requireWithin(limitBytes, withNameAndType({ bytes }, part.filename, given))
  } catch (cause) {
    throw cause instanceof A2AError ? cause : notFetched('could not be read', cause)
  }
}

/** Stops at the limit, whatever content-length the peer sends. */
async function readWithin(response: Response, limitBytes: number): Promise<Uint8Array> {
  if (Number(response.headers.get('content-length') ?? 0) > limitBytes) {
    await response.body?.cancel().catch(() => {})
    throw tooLarge(limitBytes)
  }
  const pieces: Uint8Array[] = []
  let length = 0
  // Leaving the loop early cancels the body.
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.byteLength
    if (length > limitBytes) throw tooLarge(limitBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

function requireWithin(limitBytes: number, content: PartBytes): PartBytes {
  if (content.bytes.byteLength > limitBytes) throw tooLarge(limitBytes)
  return content
}

function withNameAndType(content: PartBytes, filename?: string, mediaType?: string): PartBytes {
  return {
    ...content,
    ...(mediaType !== undefined && mediaType !== '' ? { mediaType } : {}),
    ...(filename !== undefined && filename !== '' ? { filename } : {}),
  }
}

function filenameIn(url: string): string | undefined {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? ''
  return attempt(() => decodeURIComponent(last)) ?? last
}

function bareType(contentType: string | null): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase()
}

const isDataUrl = (url: string): boolean => /^data:/i.test(url)

const tooLarge = (limitBytes: number): A2AError =>
  new A2AError('PAYLOAD_TOO_LARGE', `A file of the message is larger than ${limitBytes} bytes, the maximum`)

const notFetched = (what: string, cause: unknown): A2AError =>
  new A2AError('INVALID_PARAMS', `A file that the message refers to ${what}`, { reason: 'PART_NOT_FETCHED' }, { cause })

/** The texts of a message, a status or an artifact. */
export function textOfParts(parts: readonly Part[], separator = '\n'): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join(separator)
}
