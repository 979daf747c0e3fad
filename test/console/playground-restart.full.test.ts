/** The hub is killed during an answer, in long mode three times, and the page is reloaded during one. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { adminKey, waitFor } from '../admin/test-hub.ts'
import { startKillableHub } from './killable-hub.ts'
import { maxWaitMs } from './open-console.ts'
import { composer, sendText, taskIdOf, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

const isLongMode = process.env['PARLEY_FULL'] === '1'

/** The hub is killed when the pages have counted to these. */
const killedAt = isLongMode ? [2, 5, 8] : [2]
const seconds = isLongMode ? 12 : 5
const countTo = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1))
const whole = countTo(seconds)

/** The numbers on the page, in order. */
const ticks = async (page: Page): Promise<readonly string[]> =>
  (await page.locator('.talk-made .talk-bubble').allInnerTexts()).flatMap((text) => text.split('\n').filter(Boolean))

const tick = (page: Page, number: number): Promise<true> =>
  waitFor(async () => {
    const shown = await ticks(page)
    // At any time, nothing is missing and nothing is doubled.
    assert.deepEqual(shown, countTo(shown.length))
    return shown.length >= number ? true : undefined
  }, `the page counts to ${number}`)

describeInBrowser('a restart of the hub', async (browser) => {
  const hub = await startKillableHub({
    clock: { kind: 'demo', agent: 'clock' },
    concierge: { kind: 'demo', agent: 'concierge' },
  })
  const errors: string[] = []

  /** In a separate browser: one opens at most six connections to a hub. */
  const open = async (path: string): Promise<Page> => {
    const context = await browser.newContext({ baseURL: hub.url })
    context.setDefaultTimeout(maxWaitMs)
    await context.request.post('/admin/session', { headers: { authorization: `Bearer ${adminKey}` } })
    const page = await context.newPage()
    page.on('pageerror', (error) => void errors.push(error.message))
    await page.goto(path)
    await composer(page).waitFor()
    return page
  }

  it('during streams loses and doubles nothing, in every version', async () => {
    const ways = ['', '?version=0.3&binding=HTTP%2BJSON', '?version=0.2']
    const pages = await Promise.all(ways.map((query) => open(`/playground/clock${query}`)))
    await Promise.all(pages.map((page) => sendText(page, String(seconds))))
    for (const number of killedAt) {
      await Promise.all(pages.map((page) => tick(page, number)))
      await hub.kill()
      await Promise.all(pages.map((page) => page.getByText('Disconnected, reconnecting…').waitFor()))
      await hub.start()
    }
    for (const page of pages) {
      await tick(page, seconds)
      await waitForTaskEnd(page)
      assert.deepEqual(await ticks(page), whole)
      assert.equal(await page.locator('.talk-said.mine').count(), 1)
      assert.equal(await page.locator('.trouble').count(), 0)
      await page.reload()
      await waitForTaskEnd(page)
      assert.deepEqual(await ticks(page), whole)
      await page.context().close()
    }
  })

  it('and a reload during it show everything and continue', async () => {
    const page = await open('/playground/clock?protocol=1')
    // Longer than the test: it has not ended when the page is back.
    await sendText(page, '3000')
    await tick(page, 3)
    const task = taskIdOf(page)
    await page.reload()
    await tick(page, 4)
    assert.equal(taskIdOf(page), task)
    await hub.kill()
    await hub.start()
    await page.reload()
    await tick(page, 6)
    const asked = await page.locator('.protocol-row.request').allInnerTexts()
    assert.ok(asked.some((text) => text.includes('SubscribeToTask')))
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await waitForTaskEnd(page, 'canceled')
    await page.context().close()
  })

  it('during a question leaves it open to be answered', async () => {
    const page = await open('/playground/concierge')
    await sendText(page, 'A table, please')
    await page.locator('.talk-asked').waitFor()
    await hub.kill()
    await page.getByText('Disconnected, reconnecting…').waitFor()
    await composer(page).fill('Rome, two')
    await composer(page).press('Enter')
    await page.getByText('Sending…').waitFor()
    await hub.start()
    await waitForTaskEnd(page)
    assert.equal(await page.locator('.talk-said.mine').count(), 2)
    assert.match(await page.locator('.talk').innerText(), /PARLEY-42/)
    const events = await (await page.request.get(`/admin/tasks/${taskIdOf(page)}/events`)).json()
    const messages = events.events.filter(({ type }: { type: string }) => type === 'message')
    assert.equal(messages.length, 2)
    await page.context().close()
  })

  it('breaks nothing on the page', () => {
    assert.deepEqual(errors, [])
  })
})
