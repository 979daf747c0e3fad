/** Resolves a secret that the user gave to the value that is sent. */
import type { Secret } from '../contract.ts'

/** A function is called each time. Trailing line breaks are removed, because secrets often come from files. */
export async function resolveSecret(secret: Secret, prefix = ''): Promise<string | undefined> {
  const value = (typeof secret === 'function' ? await secret() : secret)?.trim()
  return value ? prefix + value : undefined
}
