/**
 * The wire log of `--debug`: every HTTP request and response as it was sent, on stderr, while it passes. Output redacts it. Bodies are
 * cut, since a stream may be endless and a file large.
 */
import type { DirectFetch } from '@parley/a2a/client'
import type { DirectRequest, HttpAnswer, HttpAnswerBody, HttpBodyRead } from '@parley/a2a/internal'
import type { Output } from '../output/output.ts'

const maxBodyChars = 16_384

/** Headers whose values are credentials. */
const secretHeader = /^(proxy-)?authorization$|cookie|api-?key|token|secret|credential|signature/i

/** `secretNames`: further headers whose values are not shown, in lower case. */
export function logExchanges(fetch: DirectFetch, output: Output, secretNames: readonly string[]): DirectFetch {
  let count = 0
  const headerLines = (headers: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(headers).map(([name, value]) => {
      const isSecret = secretHeader.test(name) || secretNames.includes(name.toLowerCase())
      return `${name}: ${isSecret ? '[redacted]' : value}`
    })
  return Object.assign(
    async (request: Request): Promise<Response> => {
      const log = begin(request.method, new URL(request.url), Object.fromEntries(request.headers), undefined)
      try {
        const response = await fetch(request)
        log.answered(response.status, Object.fromEntries(response.headers))
        // A copy: the other branch is read by the client at its own pace.
        void response
          .clone()
          .text()
          .then(log.body, () => {})
        return response
      } catch (reason) {
        log.failed(reason)
        throw reason
      }
    },
    {
      exchange: async (request: DirectRequest): Promise<HttpAnswer> => {
        const { method, url, headers, body } = request
        const log = begin(method, url, headers, typeof body === 'string' ? body : undefined)
        try {
          const answer = await fetch.exchange(request)
          log.answered(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
          return { ...answer, body: answer.body && loggedBody(answer.body, log.body) }
        } catch (reason) {
          log.failed(reason)
          throw reason
        }
      },
    },
  )

  function begin(method: string, url: URL, headers: Readonly<Record<string, string>>, body: string | undefined) {
    const number = ++count
    const startedAt = performance.now()
    const took = (): string => `${(performance.now() - startedAt).toFixed(1)} ms`
    output.debug(`> ${number} ${method} ${withoutSecrets(url)}`)
    for (const line of headerLines(headers)) output.debug(`> ${number} ${line}`)
    if (body !== undefined) output.debug(`> ${number} ${cut(body)}`)
    return {
      answered(status: number, answerHeaders: Readonly<Record<string, string>>) {
        output.debug(`< ${number} ${status} after ${took()}`)
        for (const line of headerLines(answerHeaders)) output.debug(`< ${number} ${line}`)
      },
      body(text: string) {
        for (const line of cut(text).trimEnd().split('\n')) output.debug(`< ${number} ${line}`)
      },
      failed(reason: unknown) {
        const { code = '', message } = reason as NodeJS.ErrnoException
        output.debug(`< ${number} failed after ${took()}: ${code} ${message}`)
      },
    }
  }
}

/** Passes the chunks on, and their text to the log. */
function loggedBody(body: HttpAnswerBody, log: (text: string) => void): HttpAnswerBody {
  return {
    getReader() {
      const reader = body.getReader()
      const decoder = new TextDecoder()
      return {
        async read(): Promise<HttpBodyRead> {
          const read = await reader.read()
          if (!read.done) log(decoder.decode(read.value, { stream: true }))
          return read
        },
        cancel: (reason) => reader.cancel(reason),
      }
    },
    cancel: (reason) => body.cancel(reason),
  }
}

/** The values of a query may be keys, so only its names are shown. */
function withoutSecrets(url: URL): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  for (const name of new Set(shown.searchParams.keys()))
    if (!/^(pageSize|historyLength|status|contextId|includeArtifacts)$/.test(name))
      shown.searchParams.set(name, 'redacted')
  return shown.href
}

function cut(text: string): string {
  if (text.length <= maxBodyChars) return text
  return `${text.slice(0, maxBodyChars)}… (${text.length - maxBodyChars} more characters)`
}
