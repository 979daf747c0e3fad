/**
 * The browser of all console tests in this process. Each test file opens separate contexts in it, which share nothing.
 * scripts/suites.ts loads this module before the first file, so that the browser is closed after the last one.
 */
import { after, describe } from 'node:test'
import type { Browser } from 'playwright-core'
import { findBrowser } from '../browser/chromium.ts'

/**
 * The tabs of a context share one process as long as one of them is open (open-console.ts), and the compositor has none of its
 * own: to open a page took 440 ms of CPU time instead of 690.
 */
const found = await findBrowser('--process-per-site', '--renderer-process-limit=1', '--in-process-gpu')
if ('browser' in found) after(() => found.browser.close())

/** Like `describe`, with a browser. Without one, the tests are skipped. */
export function describeInBrowser(name: string, body: (browser: Browser) => Promise<void>): void {
  if ('missing' in found) describe(name, { skip: found.missing })
  else describe(name, { timeout: 600_000 }, () => body(found.browser))
}
