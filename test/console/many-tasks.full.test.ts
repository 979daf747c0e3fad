/** Ten thousand tasks, and one with five thousand events: scrolling, jumping and searching. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { RecordBody, Store } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { openConsole } from './open-console.ts'
import { writeTask } from './written-tasks.ts'
import { describeInBrowser } from './shared-browser.ts'

const many = 10_000
const chatty = 5_000
const minute = 60_000
const waited = '01900000-0000-7000-8000-eeeeeeeeeeee'
const longTask = '01900000-0000-7000-8000-ffffffffffff'
/** The rows on the screen, and as many again above and below it. */
const mostRows = 60

describeInBrowser('very many tasks', async (browser) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-many-'))
  after(() => rm(dataDir, { recursive: true, force: true }))
  const file = join(dataDir, 'parley.db')
  const store = sqliteStore(file)
  await fill(store)
  await store.close()
  const fixture = await openConsole(browser, { config: { store: `sqlite:${file}` } })
  const scroller = (page: Page, name: string) =>
    page.locator(name === 'Tasks' ? '.task-list .virtual' : '.events-tab .virtual')

  /**
   * Scrolls for this many frames and returns what was drawn: the most rows at a time, and the most new rows in a
   * frame. The cost of a frame depends on these, not on the length of the list; its duration depends on the machine.
   */
  async function scrolled(list: Locator, stepPx: number, frames: number): Promise<{ rows: number; made: number }> {
    return list.evaluate(
      async (element, { stepPx, frames }) => {
        const { MutationObserver, requestAnimationFrame } = globalThis as any
        const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
        let added = 0
        const watch = new MutationObserver((changes: any[]) => {
          const nodes = changes.flatMap(({ addedNodes }) => [...addedNodes])
          added += nodes.filter(({ tagName }) => tagName === 'LI').length
        })
        watch.observe(element, { childList: true, subtree: true })
        let [rows, made] = [0, 0]
        for (let frame = 0; frame < frames; frame += 1) {
          element.scrollTop += stepPx
          await nextFrame()
          await nextFrame()
          made = Math.max(made, added)
          added = 0
          rows = Math.max(rows, element.querySelectorAll('li').length)
        }
        return { rows, made }
      },
      { stepPx, frames },
    )
  }

  /** Repeatedly scrolls to the end of the loaded rows, as a user who looks for the first task. */
  async function toTheVeryEnd(list: Locator, isThere: () => Promise<boolean>): Promise<void> {
    while (!(await isThere())) {
      await list.evaluate((element) => (element.scrollTop = element.scrollHeight))
      await list.evaluate(() => new Promise((resolve) => void (globalThis as any).requestAnimationFrame(resolve)))
    }
  }

  it('are scrolled to the end and back, with few rows drawn', async () => {
    const page = await fixture.open('/tasks')
    const list = scroller(page, 'Tasks')
    await list.locator('.task-row').first().waitFor()
    const foot = page.locator('.task-foot')
    await toTheVeryEnd(list, async () => /^10,002 tasks$/.test((await foot.textContent()) ?? ''))
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight))
    await list.getByText('task number 0', { exact: true }).waitFor()
    await list.evaluate((element) => (element.scrollTop = 0))
    await list.getByText('the chatty one').waitFor()
    const { rows, made } = await scrolled(list, 330, 200)
    assert.ok(rows > 10 && rows < mostRows, `${rows} rows are drawn`)
    assert.ok(made > 0 && made <= mostRows, `${made} rows are made for a frame`)
    await page.close()
  })

  it('are found by a text that only an old one has, and stay loaded while another is open', async () => {
    const page = await fixture.open('/tasks?text=number 17')
    const list = scroller(page, 'Tasks')
    await toTheVeryEnd(list, async () => (await page.getByText('task number 17', { exact: true }).count()) > 0)
    await page.getByText('task number 17', { exact: true }).click()
    await page.getByRole('heading', { name: 'task number 17', exact: true, level: 2 }).waitFor()
    assert.match(page.url(), /text=number/)
    await page.close()
  })

  it('are searched only as far as the user wants', async () => {
    const page = await fixture.open('/tasks?text=number 0')
    await page.getByText('Searched 10,000 more tasks without a match.').waitFor()
    await page.getByRole('button', { name: 'Search older tasks' }).click()
    await page.getByText('task number 0', { exact: true }).waitFor()
    await page.getByText('1 task', { exact: true }).waitFor()
    await page.close()
  })

  it('include one with five thousand events, whose log is scrolled with few rows drawn', async () => {
    const page = await fixture.open(`/tasks/${longTask}/events`)
    await page.getByText('5,000 events', { exact: true }).waitFor()
    const list = scroller(page, 'Events')
    const chunks = list.getByRole('button', { name: /4,997 artifact chunks, 5\.0 s/ })
    await chunks.focus()
    assert.equal(await list.locator('li').count(), 4)
    await page.keyboard.press('Enter')
    await list.getByRole('button', { name: /^4 / }).waitFor()
    assert.equal(await chunks.getAttribute('aria-expanded'), 'true')
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight))
    await list.getByRole('button', { name: /^5000 / }).waitFor()
    await list.evaluate((element) => (element.scrollTop = 0))
    await list.getByRole('button', { name: /^1 / }).waitFor()
    const { rows, made } = await scrolled(list, 330, 200)
    assert.ok(rows > 10 && rows < mostRows, `${rows} rows are drawn`)
    assert.ok(made > 0 && made <= mostRows, `${made} rows are made for a frame`)
    await page.close()
  })

  it('have an address for every event, and a timeline with few marks', async () => {
    const page = await fixture.open(`/tasks/${longTask}/events?event=4321`)
    await page.locator('.event.open').getByText('word 4321').first().waitFor()
    assert.ok((await page.locator('.timeline-tick').count()) <= 501)
    await page.getByRole('link', { name: 'Conversation' }).click()
    await page.getByText('as of event 4321 of 5000').waitFor()
    await page.getByRole('button', { name: '16×' }).click()
    await page.keyboard.press('r')
    await page.getByText('as of event 5000 of 5000').waitFor()
    await page.close()
  })

  it('have one set of numbers in all views: working time apart from waiting time', async () => {
    const { json } = await fixture.testHub.ask('GET', `/admin/tasks/${waited}`)
    assert.deepEqual([json.durationMs, json.waitingMs], [30 * minute, 10 * minute])
    const page = await fixture.open('/tasks?text=waited for an answer')
    const duration = page.locator('.task-row .task-duration')
    assert.equal(await duration.innerText(), '20 min 0 s\n10 min 0 s waiting')
    assert.match((await duration.getAttribute('title')) ?? '', /total 30 min 0 s$/)
    await page.locator('.task-row').click()
    await page.locator('.task-facts').getByText('20 min 0 s').waitFor()
    await page.locator('.task-facts .task-waited').getByText('10 min 0 s').waitFor()
    await page.getByText('6 events · 20 min 0 s working, 10 min 0 s waiting').waitFor()
    await page.locator('.talk-end').getByText('20 min 0 s').waitFor()
    const titles = await page.locator('.timeline-state title').allTextContents()
    assert.deepEqual(titles.slice(0, 3), ['Working, 10 min 0 s', 'Needs input, 10 min 0 s', 'Working, 10 min 0 s'])
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})

/** A task that worked, waited for an answer and worked again, for ten minutes each. */
async function writeWaited(store: Store): Promise<void> {
  const createdAt = Date.now() - 30 * minute
  const message = (text: string): RecordBody => ({
    type: 'message',
    message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] },
  })
  const status = (state: 'WORKING' | 'INPUT_REQUIRED' | 'COMPLETED', at: number): RecordBody => ({
    type: 'status',
    status: { state: `TASK_STATE_${state}`, timestamp: new Date(at).toISOString() },
  })
  const steps: readonly (readonly [minutes: number, body: (at: number) => RecordBody])[] = [
    [0, () => message('it waited for an answer')],
    [0, (at) => status('WORKING', at)],
    [10, (at) => status('INPUT_REQUIRED', at)],
    [20, () => message('the answer')],
    [20, (at) => status('WORKING', at)],
    [30, (at) => status('COMPLETED', at)],
  ]
  const records = steps.map(([minutes, body]) => {
    const at = createdAt + minutes * minute
    return { at, body: body(at) }
  })
  const statusAt = createdAt + 30 * minute
  await store.tasks.append(waited, {
    expectedSeq: 0,
    records,
    create: {
      ...{ id: waited, contextId: waited, tenant: '', agent: 'talker', owner: 'anonymous', consumedSeq: 4 },
      ...{ status: { state: 'TASK_STATE_COMPLETED' }, statusAt, createdAt },
    },
  })
}

/** Written to the store like an engine does, a year's work at once. */
async function fill(store: Store): Promise<void> {
  const start = Date.now() - many * 1_000
  // Writes of one batch are one commit.
  for (let first = 0; first < many; first += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => {
        const number = first + index
        const id = `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`
        return writeTask(store, { id, at: start + number * 1_000, text: `task number ${number}`, more: [] })
      }),
    )
  }
  const words = Array.from({ length: chatty - 3 }, (_, index): RecordBody => ({
    type: 'artifact',
    artifact: { artifactId: 'answer', parts: [{ text: `word ${index + 3} ` }] },
    append: index > 0,
  }))
  await writeWaited(store)
  await writeTask(store, { id: longTask, at: Date.now(), text: 'the chatty one', more: words })
}
