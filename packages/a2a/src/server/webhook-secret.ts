/** Comparing what a sender shows with what was agreed, in a time that tells nothing about either. */

const encoder = new TextEncoder()

/** Hashed first, so that neither the lengths nor the place of the first difference can be measured. */
export async function isOneOf(shown: string, agreed: readonly string[]): Promise<boolean> {
  const mine = await digest(shown)
  const theirs = await Promise.all(agreed.map(digest))
  // All are looked at, so that time does not tell which one it was.
  return theirs.map((other) => isSame(mine, other)).includes(true)
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] as number) ^ (other[at] as number)
  return difference === 0
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

export async function sha256Hex(text: string): Promise<string> {
  return Array.from(await digest(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
