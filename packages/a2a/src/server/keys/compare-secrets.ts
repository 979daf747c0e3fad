/** Compares a sender's secret with the expected ones, in constant time. */

const encoder = new TextEncoder()

/** Hashes first, so that neither the lengths nor the position of the first difference can be measured. */
export async function matchesAnySecret(shown: string, agreed: readonly string[]): Promise<boolean> {
  const mine = await digest(shown)
  const theirs = await Promise.all(agreed.map(digest))
  // Compares all, so that the time does not reveal which one matched.
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
