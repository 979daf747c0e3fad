/** What a webhook must be before it is taken: at an address we would call, with secrets that fit a header (B-129, B-130). */
import type { Violation } from '../model/error.ts'
import type { TaskPushNotificationConfig } from '../model/operation.ts'

const maxUrl = 2_048
const maxSecret = 8_192

/** `at` is where the config stands in the request, with a dot behind it. */
export function checkPushConfig(
  { id, url, token, authentication }: TaskPushNotificationConfig,
  at: string,
  refuses: (url: URL) => string | undefined,
): Violation[] {
  const violations: Violation[] = []
  const complain = (field: string, description: string): void =>
    void violations.push({ field: at + field, description })
  const wrong = checkUrl(url, refuses)
  if (wrong !== undefined) complain('url', wrong)
  if (id !== undefined && !/^[\x21-\x7e]{0,256}$/.test(id)) {
    complain('id', 'must be at most 256 letters, digits and signs of ASCII without spaces')
  }
  if (token !== undefined && !isHeader(token)) complain('token', fits)
  if (authentication !== undefined) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(authentication.scheme)) {
      complain('authentication.scheme', 'must be the name of an HTTP authentication scheme')
    }
    if (!isHeader(authentication.credentials ?? '')) complain('authentication.credentials', fits)
  }
  return violations
}

/** Why there can be no webhook at this address, or nothing. */
export function checkUrl(url: string, refuses: (url: URL) => string | undefined): string | undefined {
  if (url.length > maxUrl) return `must not be longer than ${maxUrl} characters`
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return 'must be an absolute http(s) URL'
  if (parsed.username + parsed.password !== '') return 'must not hold a password: give it as authentication'
  return refuses(parsed)
}

const fits = `must fit into a header: at most ${maxSecret} printable characters of ASCII`

/** No line breaks above all: what follows one would be a header of its own. */
function isHeader(secret: string): boolean {
  return secret.length <= maxSecret && /^[\x20-\x7e]*$/.test(secret)
}
