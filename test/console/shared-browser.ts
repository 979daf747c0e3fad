/**
 * The browser of all console tests in this process. Each test file opens separate contexts in it, which share nothing.
 * scripts/suites.ts loads this module before the first file, so that the browser is closed after the last one.
 */
import { after, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { findBrowser } from '../browser/chromium.ts'

const found = await findBrowser()
if ('browser' in found) after(() => found.browser.close())

/** Like `describe`, with a browser. Without one, the tests are skipped. */
export function describeInBrowser(name: string, body: (browser: Browser) => Promise<void>): void {
  if ('missing' in found) describe(name, { skip: found.missing })
  else describe(name, { timeout: 600_000 }, () => body(found.browser))
}
