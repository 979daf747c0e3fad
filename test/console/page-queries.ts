/** What tests read from a page beside its content: the clipboard, its width, the number of elements. */
import type { Locator, Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'

export function readClipboard(page: Page): Promise<string> {
  return page.evaluate('navigator.clipboard.readText()')
}

/** More than the screen is wide means that the page scrolls sideways. */
export function pageWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth')
}

/** Stops the clock of the page: `page.clock.runFor` advances it, and `page.clock.resume` restarts it. */
export async function pauseClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1_000)
}

export async function waitForCount(some: Locator, count: number): Promise<void> {
  await waitFor(
    async () => ((await some.count()) === count ? true : undefined),
    `there are ${count} of ${String(some)}`,
  )
}

export async function waitForText(one: Locator, text: string | RegExp): Promise<void> {
  const fits = (said: string): boolean => (typeof text === 'string' ? said === text : text.test(said))
  await waitFor(async () => (fits((await one.textContent()) ?? '') ? true : undefined), `it says ${String(text)}`)
}

export function isFocused(one: Locator): Promise<boolean> {
  return one.evaluate((element: any) => element === element.ownerDocument.activeElement)
}
