/** The browser that the tests drive: Debian's Chromium without its windows, or the one that PARLEY_CHROMIUM names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { findOrInstall } from '../../scripts/debian.ts'

/** The browser with these options, or the reason why there is none. In continuous integration there must be one. */
export async function findBrowser(
  ...options: readonly string[]
): Promise<{ readonly browser: Browser } | { readonly missing: string }> {
  const named = process.env['PARLEY_CHROMIUM']
  const executablePath = named ?? (await findChromium())
  if (executablePath === undefined || !existsSync(executablePath)) {
    const missing =
      named === undefined
        ? 'Chromium is not installed, and only root on Debian can install it here: apt-get install chromium, or set PARLEY_CHROMIUM to a browser'
        : `PARLEY_CHROMIUM names ${named}, and there is nothing`
    if (process.env['CI'] === 'true') throw new Error(missing)
    console.log(`! tests in a browser are skipped: ${missing}`)
    return { missing }
  }
  // Chromium refuses to run its sandbox as root.
  const args = [...options, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return { browser: await chromium.launch({ executablePath, args }) }
}

/** The shell has no tabs and no menus to draw: a console test took 9 s of CPU time with it, and 16 s with the whole browser. */
async function findChromium(): Promise<string | undefined> {
  for (const name of ['chromium-headless-shell', 'chromium'] as const) {
    const folder = await findOrInstall(name)
    if (folder !== undefined) return join(folder, name)
  }
  return undefined
}
