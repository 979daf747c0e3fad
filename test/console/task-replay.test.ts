/** A task played again: from any event, at its own pace or faster, step by step, and back to the whole. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../admin/stage.ts'
import { findBrowser } from '../browser/chromium.ts'
import { openConsole } from './open-console.ts'
import { withTicker } from './ticker.ts'

const found = await findBrowser()

describe('a replay', 'missing' in found ? { skip: found.missing } : { timeout: 120_000 }, async () => {
  if ('missing' in found) return
  after(() => found.browser.close())
  const house = await openConsole(found.browser, withTicker)
  const { stage } = house
  const slow = await stage.send('ticker', 'tick 6 300')
  const long = await stage.send('ticker', 'tick 40 100')
  const { json: log } = await stage.ask('GET', `/admin/tasks/${slow.id}/events`)
  const chunk = (number: number) =>
    log.events.find(({ body }: any) => body.artifact?.parts[0].text === `line ${number}\n`).seq as number
  const talk = (page: Page) => page.locator('.task-scroll')
  const said = async (page: Page): Promise<string> => (await talk(page).textContent()) ?? ''
  const bar = (page: Page) => page.getByRole('group', { name: 'Replay' })

  it('shows the task as it was after the event that is selected', async () => {
    const page = await house.open(`/tasks/${slow.id}?event=${chunk(2)}`)
    await talk(page).getByText('line 2').waitFor()
    assert.doesNotMatch(await said(page), /line 3/)
    await bar(page)
      .getByText(`as of event ${chunk(2)} of ${log.head}`)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Show all' }).click()
    await talk(page).getByText('line 6').waitFor()
    await bar(page).waitFor({ state: 'detached' })
    await page.close()
  })

  it('goes step by step', async () => {
    const page = await house.open(`/tasks/${slow.id}?event=${chunk(3)}`)
    await bar(page).getByRole('button', { name: 'Step' }).click()
    await talk(page).getByText('line 4').waitFor()
    assert.doesNotMatch(await said(page), /line 5/)
    await page.waitForURL(new RegExp(`event=${chunk(4)}$`))
    await page.close()
  })

  it('plays from the selected event at the pace of the task, and ends with the whole of it', async () => {
    const page = await house.open(`/tasks/${slow.id}/events?event=${chunk(3)}`)
    await page.locator('.event.open').waitFor()
    const began = Date.now()
    await page.keyboard.press('r')
    await talk(page).getByText('line 4').waitFor()
    assert.doesNotMatch(await said(page), /line 6/)
    await page.waitForURL(new RegExp(`event=${log.head}$`))
    const tookMs = Date.now() - began
    assert.match(await said(page), /line 6/)
    // Three waits of 300 ms lie between.
    assert.ok(tookMs > 700, `it took ${tookMs} ms`)
    await page.close()
  })

  it('plays faster where one wants it, pauses with the same key, and keeps its place in the address', async () => {
    const page = await house.open(`/tasks/${long.id}?event=1`)
    await bar(page).getByRole('button', { name: '16×' }).click()
    const began = Date.now()
    await bar(page).getByRole('button', { name: 'Replay from here' }).click()
    await page.waitForURL((url) => Number(url.searchParams.get('event')) > 40)
    const tookMs = Date.now() - began
    assert.ok(tookMs < 3_800, `four seconds at sixteen times the pace took ${tookMs} ms`)

    await bar(page).getByRole('button', { name: '1×', exact: true }).click()
    await page.keyboard.press('r')
    await talk(page).getByText('line 3').waitFor()
    await page.keyboard.press('r')
    await bar(page).getByRole('button', { name: 'Replay from here' }).waitFor()
    const at = Number(new URL(page.url()).searchParams.get('event'))
    assert.ok(at > 3 && at < 30, `it rests at ${at}`)
    const then = await said(page)
    await page.reload()
    await bar(page).waitFor()
    await until(async () => ((await said(page)).length === then.length ? true : undefined), 'it says as much as before')
    await page.close()
  })

  it('goes on from where one points while it plays', async () => {
    const page = await house.open(`/tasks/${long.id}`)
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await talk(page).getByText('line 2').waitFor()
    const line = page.getByRole('slider', { name: 'Events of the task' })
    const box = await line.boundingBox()
    if (box === null) throw new Error('no line of time')
    await page.mouse.click(box.x + box.width * 0.8, box.y + 4)
    await talk(page).getByText('line 33').waitFor()
    await page.getByRole('button', { name: 'Pause the replay' }).click()
    await page.close()
  })

  it('was not complained of', () => {
    assert.deepEqual(house.complaints, [])
  })
})
