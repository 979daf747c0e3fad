/** A browser of a person. Imported only by journeys that need one: it starts with the file. */
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { findBrowser } from '../browser/chromium.ts'

const found = await findBrowser()
if ('browser' in found) after(() => found.browser.close())

/** Why no browser can be opened on this machine. */
export const browserSkipReason: string | false = 'missing' in found ? found.missing : false

/** A page of a browser without cookies. */
export async function openPage(address: string): Promise<Page> {
  if ('missing' in found) throw new Error(found.missing)
  const context = await found.browser.newContext({ baseURL: new URL(address).origin })
  context.setDefaultTimeout(guardMs)
  const page = await context.newPage()
  await page.goto(address)
  return page
}

/** The console by the link on a screen, which signs in once. */
export async function openConsole(screen: string): Promise<Page> {
  const page = await openPage(signInLink(screen))
  await isSignedIn(page)
  return page
}

export function signInLink(screen: string): string {
  return /http:\S+(?=\s+The link signs you in once)/.exec(screen)?.[0] ?? screen.trim()
}

export async function isSignedIn(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}
