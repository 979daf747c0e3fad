/**
 * Validates that the receiver at an address expects notifications (T-8): sends a GET with a random token, which must come back as
 * the body. Otherwise a client could make the server call a third party that never asked for it.
 */
import { newId } from '../../model/id.ts'
import type { WebhookFetch } from './push-options.ts'

const maxAnswer = 1_024

export function createUrlChallenge(fetch: WebhookFetch, timeoutMs: number): (url: string) => Promise<boolean> {
  return async (url) => {
    const asked = new URL(url)
    const token = `${newId()}${crypto.randomUUID()}`
    asked.searchParams.set('validationToken', token)
    const deadline = new AbortController()
    const timeUp = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      deadline.abort()
      timeUp.reject(new Error('timed out'))
    }, timeoutMs)
    try {
      const request = new Request(asked, { redirect: 'manual', signal: deadline.signal })
      return await Promise.race([fetch(request).then((response) => isToken(response, token)), timeUp.promise])
    } catch {
      return false
    } finally {
      clearTimeout(timer)
    }
  }
}

async function isToken(response: Response, token: string): Promise<boolean> {
  return (await readSome(response)) === token && response.status === 200
}

async function readSome({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length <= maxAnswer) {
    const { done, value } = await reader.read()
    if (done) return text.trim()
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return ''
}
