/** Validates a push notification config: an allowed address, and secrets that fit a header (B-129, B-130). */
import type { Violation } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { TaskPushNotificationConfig } from '../../model/operation.ts'
import type { WebhookFetch } from './push-options.ts'

const maxUrl = 2_048
const maxSecret = 8_192

/** `at` is the path of the config in the request, with a trailing dot. */
export function validatePushConfig(
  { id, url, token, authentication }: TaskPushNotificationConfig,
  at: string,
  validateUrl: (url: URL) => string | undefined,
): Violation[] {
  const violations: Violation[] = []
  const addViolation = (field: string, description: string): void =>
    void violations.push({ field: at + field, description })
  const problem = validateWebhookUrl(url, validateUrl)
  if (problem !== undefined) addViolation('url', problem)
  if (id !== undefined && !/^[\x21-\x7e]{0,256}$/.test(id)) {
    addViolation('id', 'must be at most 256 printable ASCII characters without spaces')
  }
  if (token !== undefined && !isHeaderValue(token)) addViolation('token', headerSecretRule)
  if (authentication !== undefined) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(authentication.scheme)) {
      addViolation('authentication.scheme', 'must be the name of an HTTP authentication scheme')
    }
    if (!isHeaderValue(authentication.credentials ?? '')) addViolation('authentication.credentials', headerSecretRule)
  }
  return violations
}

/** Returns why a webhook at this address is refused, or `undefined`. */
export function validateWebhookUrl(url: string, validateUrl: (url: URL) => string | undefined): string | undefined {
  if (url.length > maxUrl) return `must not be longer than ${maxUrl} characters`
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return 'must be an absolute http(s) URL'
  if (parsed.username + parsed.password !== '') return 'must not contain a password: use authentication'
  return validateUrl(parsed)
}

const headerSecretRule = `must fit into a header: at most ${maxSecret} printable ASCII characters`

/** Rejects line breaks above all: the text after one would be another header. */
function isHeaderValue(secret: string): boolean {
  return secret.length <= maxSecret && /^[\x20-\x7e]*$/.test(secret)
}

// Validates that the receiver at an address expects notifications (T-8): sends a GET with a random token, which must come back as
// the body. Otherwise a client could make the server call a third party that never asked for it.

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
