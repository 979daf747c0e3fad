/**
 * The path to return to after sign-in at the identity provider, in case it ends at the sign-in page again. Kept in this tab only.
 */

const storageKey = 'parley.trip'

export function saveReturnPath(to: string): void {
  try {
    sessionStorage.setItem(storageKey, to)
  } catch {
    // Without storage, sign-in returns to the first page.
  }
}

export function takeReturnPath(): string | undefined {
  try {
    const to = sessionStorage.getItem(storageKey)
    sessionStorage.removeItem(storageKey)
    return to !== null && /^\/(?!\/)/.test(to) ? to : undefined
  } catch {
    return undefined
  }
}

export function clearReturnPath(): void {
  takeReturnPath()
}
