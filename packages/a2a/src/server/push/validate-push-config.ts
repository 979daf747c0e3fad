/** Validates a push notification config: an allowed address, and secrets that fit a header (B-129, B-130). */
import type { Violation } from '../../model/error.ts'
import type { TaskPushNotificationConfig } from '../../model/operation.ts'

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
