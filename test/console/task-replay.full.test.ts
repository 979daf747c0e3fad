/** Replay of a task: from any event, at its pace or faster, step by step, and back to the whole task. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import type { RecordBody, Store } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { pauseClock } from './page-queries.ts'
import { openConsole } from './open-console.ts'
import { writeTask } from './written-tasks.ts'
import { describeInBrowser } from './shared-browser.ts'

/** The time a page takes to start, by its own clock. */
const aFewFramesMs = 100

/** This many lines, this many milliseconds apart: the message is event 1, WORKING 2, and line `n` is event `n + 2`. */
async function writeLines(store: Store, id: string, count: number, everyMs: number): Promise<void> {
  const more = Array.from({ length: count }, (_, index): RecordBody => ({
    type: 'artifact',
    artifact: { artifactId: 'log', parts: [{ text: `line ${index + 1}\n` }] },
    append: index > 0,
  }))
  await writeTask(store, { id, at: Date.now() - 60_000, text: 'tick', more, everyMs })
}
const eventOf = (line: number): number => line + 2

describeInBrowser('a replay', async (browser) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-replay-'))
  after(() => rm(dataDir, { recursive: true, force: true }))
  const file = join(dataDir, 'parley.db')
  const store = sqliteStore(file)
  const slow = { id: '01900000-0000-7000-8000-000000000006', everyMs: 300, head: 9 }
  const long = { id: '01900000-0000-7000-8000-000000000040', everyMs: 100, head: 43 }
  await writeLines(store, slow.id, 6, slow.everyMs)
  await writeLines(store, long.id, 40, long.everyMs)
  await store.close()
  const fixture = await openConsole(browser, { config: { store: `sqlite:${file}` } })
  const talk = (page: Page) => page.locator('.task-scroll')
  const said = async (page: Page): Promise<string> => (await talk(page).textContent()) ?? ''
  const bar = (page: Page) => page.getByRole('group', { name: 'Replay' })

  it('shows the task as of the selected event', async () => {
    const page = await fixture.open(`/tasks/${slow.id}?event=${eventOf(2)}`)
    await talk(page).getByText('line 2').waitFor()
    assert.doesNotMatch(await said(page), /line 3/)
    await bar(page)
      .getByText(`as of event ${eventOf(2)} of ${slow.head}`)
      .waitFor()
    await bar(page).getByRole('button', { name: 'Show all' }).click()
    await talk(page).getByText('line 6').waitFor()
    await bar(page).waitFor({ state: 'detached' })
    await page.close()
  })

  it('goes step by step', async () => {
    const page = await fixture.open(`/tasks/${slow.id}?event=${eventOf(3)}`)
    await bar(page).getByRole('button', { name: 'Step' }).click()
    await talk(page).getByText('line 4').waitFor()
    assert.doesNotMatch(await said(page), /line 5/)
    await page.waitForURL(new RegExp(`event=${eventOf(4)}$`))
    await page.close()
  })

  it('plays from the selected event at the pace of the task, and ends with the whole task', async () => {
    const page = await fixture.open(`/tasks/${slow.id}/events?event=${eventOf(3)}`, { hasOwnClock: true })
    await page.locator('.event.open').waitFor()
    await pauseClock(page)
    await page.keyboard.press('r')
    await talk(page).getByText('line 3').waitFor()
    await page.clock.runFor(slow.everyMs - aFewFramesMs)
    assert.doesNotMatch(await said(page), /line 4/)
    await page.clock.runFor(2 * aFewFramesMs)
    await talk(page).getByText('line 4').waitFor()
    assert.doesNotMatch(await said(page), /line 5/)
    await page.clock.runFor(slow.everyMs * 3)
    await page.waitForURL(new RegExp(`event=${slow.head}$`))
    assert.match(await said(page), /line 6/)
    await page.close()
  })

  it('plays faster on request, pauses with the same key, and keeps its position in the address', async () => {
    const page = await fixture.open(`/tasks/${long.id}?event=1`, { hasOwnClock: true })
    await bar(page).getByRole('button', { name: '16×' }).click()
    await pauseClock(page)
    await bar(page).getByRole('button', { name: 'Replay from here' }).click()
    await page.clock.runFor((long.everyMs * (long.head - 1)) / 16 - aFewFramesMs)
    await talk(page).getByText('line 3').waitFor()
    assert.doesNotMatch(await said(page), /line 40/)
    await page.clock.runFor(2 * aFewFramesMs)
    await page.waitForURL((url) => Number(url.searchParams.get('event')) === long.head)

    await bar(page).getByRole('button', { name: '1×', exact: true }).click()
    await page.keyboard.press('r')
    await page.clock.runFor(long.everyMs * (eventOf(3) - 1) + aFewFramesMs)
    await talk(page).getByText('line 3').waitFor()
    await page.keyboard.press('r')
    await bar(page).getByRole('button', { name: 'Replay from here' }).waitFor()
    const at = Number(new URL(page.url()).searchParams.get('event'))
    assert.ok(at >= eventOf(3) && at <= eventOf(5), `it rests at ${at}`)
    const then = await said(page)
    await page.clock.resume()
    await page.reload()
    await bar(page).waitFor()
    await waitFor(
      async () => ((await said(page)).length === then.length ? true : undefined),
      'it says as much as before',
    )
    await page.close()
  })

  it('continues from a clicked event while it plays', async () => {
    const page = await fixture.open(`/tasks/${long.id}`, { hasOwnClock: true })
    await talk(page).getByText('line 40').waitFor()
    await pauseClock(page)
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.clock.runFor(2 * aFewFramesMs)
    assert.doesNotMatch(await said(page), /line 30/)
    const line = page.getByRole('slider', { name: 'Events of the task' })
    const box = await line.boundingBox()
    if (box === null) throw new Error('no line of time')
    await page.mouse.click(box.x + box.width * 0.8, box.y + 4)
    await page.clock.runFor(aFewFramesMs)
    await talk(page).getByText('line 31').waitFor()
    assert.doesNotMatch(await said(page), /line 40/)
    await page.getByRole('button', { name: 'Pause replay' }).click()
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
