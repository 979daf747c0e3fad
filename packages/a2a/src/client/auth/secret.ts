/** What a user gives as a secret, as it goes out. */
import type { Secret } from '../contract.ts'

/** Functions are asked each time. Secrets that come from files end in line breaks. */
export async function reveal(secret: Secret, prefix = ''): Promise<string | undefined> {
  const value = (typeof secret === 'function' ? await secret() : secret)?.trim()
  return value ? prefix + value : undefined
}
