/** Where one wanted to go before the way by the issuer, for the case that it ends at the door again. Kept by this tab alone. */

const name = 'parley.trip'

export function noteTrip(to: string): void {
  try {
    sessionStorage.setItem(name, to)
  } catch {
    // A browser that keeps nothing begins at the first page.
  }
}

export function takeTrip(): string | undefined {
  try {
    const to = sessionStorage.getItem(name)
    sessionStorage.removeItem(name)
    return to !== null && /^\/(?!\/)/.test(to) ? to : undefined
  } catch {
    return undefined
  }
}

export function forgetTrip(): void {
  takeTrip()
}
