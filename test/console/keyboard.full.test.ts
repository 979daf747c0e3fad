/** Every control on a page is reached with Tab, in document order. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { openPopulatedConsole } from './populated-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const isLongMode = process.env['PARLEY_FULL'] === '1'

/** Composite controls: the arrows move within them, and Tab leaves them. */
const widgets =
  '[role="tree"], [role="treegrid"], [role="listbox"], [role="menu"], [role="toolbar"], [role="radiogroup"]'

/** In the page: numbers the controls and returns their names. A long list draws its rows anew while it scrolls: they keep their numbers. */
const number = `(() => {
  const names = []
  globalThis.rowNumbers = new Map()
  globalThis.keyInList = (one) => {
    const key = one?.closest('[data-row]')?.dataset.row ?? one?.closest('.list-row')?.querySelector('[data-row]')?.dataset.row
    return key === undefined ? undefined : key + one.tagName
  }
  for (const one of document.querySelectorAll('button, a[href], input, select, textarea, summary, [role="button"], [role="slider"], [onclick]')) {
    if (one.disabled || one.closest('${widgets}') !== null || !one.checkVisibility({ visibilityProperty: true })) continue
    if (one.type === 'file' || one.closest('[inert]') !== null) continue
    const key = keyInList(one)
    if (key === undefined) one.dataset.number = String(names.length)
    else rowNumbers.set(key, String(names.length))
    names.push((one.getAttribute('aria-label') ?? one.textContent ?? one.id).trim().slice(0, 60) + ' <' + one.tagName.toLowerCase() + '>')
  }
  document.activeElement?.blur()
  return names
})()`

/** In the page: the number of the focused control. */
const focusedNumber = `document.activeElement?.dataset.number ?? rowNumbers.get(keyInList(document.activeElement))`

async function notReached(page: Page): Promise<readonly string[]> {
  const names = await page.evaluate<readonly string[]>(number)
  assert.ok(names.length > 10, 'there is little to be pressed')
  const reached = new Set<number>()
  let quiet = 0
  for (let presses = 0; presses < names.length * 2 + 40 && quiet < 40 && reached.size < names.length; presses += 1) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<string | undefined>(focusedNumber)
    if (at === undefined || reached.has(Number(at))) quiet += 1
    else quiet = 0
    if (at !== undefined) reached.add(Number(at))
  }
  return names.filter((_, index) => !reached.has(index))
}

describeInBrowser('by keyboard alone', async (browser) => {
  const { open, load, report, own, hook } = await openPopulatedConsole(browser)
  /** `shows`: a text of the loaded page. A text that its list shows too is there before the detail beside the list has loaded. */
  type PageCase = readonly [path: string, shows: string]
  /** One with each kind of control: lists, tabs, forms, the message box, trees, editors. */
  const variedPages: readonly PageCase[] = [
    ['/welcome', 'Concierge'],
    ['/agents', 'translator'],
    ['/agents/new', 'Detect'],
    [`/playground/analyst?context=${own.contextId}&task=${own.taskId}`, 'third-quarter.md'],
    [`/tasks/${report}/events`, 'artifact'],
    [`/traces/${report}`, 'Fold tasks'],
    ['/agents/concierge/routes', 'invoices'],
    ['/settings/config', 'agents'],
  ]
  const otherPages: readonly PageCase[] = [
    ['/overview', 'Recent failures'],
    ['/agents/analyst', 'Quarterly report'],
    ['/agents/analyst/connect', 'curl'],
    ['/agents/analyst/keys', 'notebook'],
    [`/tasks/${report}`, 'third-quarter.md'],
    [`/tasks/${report}/protocol`, '0.3'],
    [`/webhooks/${hook.taskId}/${hook.configId}`, '503'],
    ['/settings/health', 'Store'],
    ['/settings/audit', 'SendMessage'],
  ]
  let page: Page | undefined
  for (const [path, shows] of [...variedPages, ...(isLongMode ? otherPages : [])])
    it(`everything on ${path.replaceAll(/[0-9a-f-]{36}/g, '…')} is reached`, async () => {
      if (page === undefined) page = await open(path)
      else await load(page, path)
      await page.getByText(shows).first().waitFor({ state: 'attached' })
      assert.deepEqual(await notReached(page), [])
    })
})
