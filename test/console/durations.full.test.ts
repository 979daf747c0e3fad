/** One task has the same duration everywhere: in the playground while it streams and later, in lists, in its trace. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { formatDuration } from '../../packages/console/src/components/format.ts'
import { openConsole } from './open-console.ts'
import { sendText, taskIdOf } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

/** Waits before its first output: it is logged long after the message. */
const thinker = `
export default async function* () {
  await new Promise((resolve) => setTimeout(resolve, 300))
  yield 'one '
  await new Promise((resolve) => setTimeout(resolve, 200))
  yield 'two'
}
`

describeInBrowser('the duration of a task', async (browser) => {
  const fixture = await openConsole(browser, {
    files: { 'thinker.ts': thinker },
    agents: { thinker: { kind: 'module', path: './thinker.ts' } },
  })

  for (const way of ['', '?stream=0']) {
    it(`is the same in every view${way === '' ? '' : ' of a task that was not streamed'}`, async () => {
      const page = await fixture.open(`/playground/thinker${way}`)
      await sendText(page, 'think')
      const live = page.locator('.talk-end')
      await live.getByText(/ in \d/).waitFor()
      const took = /in (.+)$/.exec(await live.innerText())?.[1] ?? ''
      const id = taskIdOf(page)
      const { json } = await fixture.testHub.ask('GET', `/admin/tasks/${id}`)
      // It is counted from the message, not from the first output.
      assert.ok(json.durationMs >= 490, `${json.durationMs} ms`)
      const shown = formatDuration(json.durationMs)
      const views: Record<string, string> = { playground: took }
      const note = async (name: string, path: string, selector: string, pattern = /^(.+)$/): Promise<void> => {
        await page.goto(fixture.testHub.url + path)
        const text = await page.locator(selector).first().innerText()
        views[name] = pattern.exec(text.trim())?.[1] ?? text
      }
      await note('playground, loaded again', `/playground/thinker?task=${id}`, '.talk-end', /in (.+)$/)
      await note('list', '/tasks', `.task-row:has([data-row="${id}"]) .task-row-duration`)
      await note('conversation', `/tasks/${id}`, '.talk-end', /in (.+)$/)
      await note('trace of the task', `/tasks/${id}/trace`, '.waterfall-rows .waterfall-number')
      await note('traces', '/traces', '.listing-row .traces-duration span')
      assert.deepEqual(views, Object.fromEntries(Object.keys(views).map((name) => [name, shown])))
      await page.close()
    })
  }

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
