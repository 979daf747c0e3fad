/** A trace as a graph: which agent delegated to which; panning and zooming; from a box to its task. And a hub without traces. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { delegatingAgents, delegatingFiles, prices } from './delegating-agents.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the graph of a trace', async (browser) => {
  const fixture = await openConsole(browser, {
    agents: delegatingAgents,
    files: delegatingFiles,
    config: { prices },
  })
  const { testHub } = fixture

  it('explains how to send the first message while there are no traces', async () => {
    const page = await fixture.open('/traces')
    await page.getByRole('heading', { name: 'No traces yet' }).waitFor()
    assert.match(await page.locator('.empty pre').innerText(), /^curl .*SendMessage/s)
    await page.close()
  })

  const boxes = (page: Page) => page.locator('a.delegation-node')
  const scale = async (page: Page): Promise<number> =>
    Number.parseInt(await page.locator('.delegation-scale').innerText(), 10)
  const open = async (look: object = {}) => {
    const { id } = await testHub.send('front', 'report on the third quarter')
    const page = await fixture.open(`/traces/${id}?view=graph`, look)
    await boxes(page).first().waitFor()
    return { id, page }
  }

  it('has a box for each task and an arrow for each call, with its duration', async () => {
    const { page } = await open()
    assert.deepEqual(await page.locator('.delegation-name').allTextContents(), [
      'front',
      'writer',
      'gpt',
      'checker',
      'checker',
    ])
    assert.equal(await page.locator('.delegation-edge').count(), 4)
    for (const label of await page.locator('.delegation-edge text').allTextContents())
      assert.match(label, /^\d+(\.\d)? m?s$/)
    assert.match((await boxes(page).nth(2).textContent()) ?? '', /^gpt● Completed · \d+ ms46 tokens · 0\.037$/)
    await page.close()
  })

  it('is grouped by agent, with the number of calls, kept in the address', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: 'By agent' }).click()
    await page.waitForURL(/view=graph&group=agent$/)
    await page.locator('.delegation-many').filter({ hasText: '×2' }).waitFor()
    assert.deepEqual(await page.locator('.delegation-name').allTextContents(), ['front', 'writer', 'gpt', 'checker'])
    assert.match((await page.locator('.delegation-edge text').allTextContents()).join(' '), /2× · \d+(\.\d)? m?s/)
    await page.reload()
    await page.locator('.delegation-many').waitFor()
    // Several tasks in one box: it expands to one box for each.
    await boxes(page).filter({ hasText: 'checker' }).click()
    await page.waitForURL(/view=graph$/)
    await page.close()
  })

  it('links a box to its task, by mouse and by keyboard', async () => {
    const { id, page } = await open()
    await boxes(page).filter({ hasText: 'writer' }).click()
    await page.waitForURL(/\/tasks\/[0-9a-f-]{36}$/)
    await page.goBack()
    await boxes(page).first().focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/tasks/${id}`)
    await page.close()
  })

  it('is zoomed and moved by buttons, keys, wheel and pointer; dragging does not open a task', async () => {
    const { page } = await open()
    const place = (): Promise<string | null> => page.locator('.delegation-drawing > g').getAttribute('transform')
    const fitted = await scale(page)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    assert.ok((await scale(page)) < fitted)
    await page.keyboard.press('+')
    await page.keyboard.press('+')
    assert.ok((await scale(page)) > fitted)
    const before = await place()
    await page.keyboard.press('ArrowRight')
    assert.notEqual(await place(), before)
    await page.getByRole('button', { name: 'Fit' }).click()
    assert.equal(await scale(page), fitted)
    const box = await boxes(page).nth(1).boundingBox()
    assert.ok(box !== null)
    await page.mouse.move(box.x + 20, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + 60, box.y + 90, { steps: 4 })
    await page.mouse.up()
    const moved = await boxes(page).nth(1).boundingBox()
    assert.deepEqual([Math.round((moved?.x ?? 0) - box.x), Math.round((moved?.y ?? 0) - box.y)], [40, 70])
    assert.match(page.url(), /view=graph$/)
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -200)
    await page.keyboard.up('Control')
    assert.ok((await scale(page)) > fitted)
    await page.keyboard.press('0')
    assert.equal(await scale(page), fitted)
    await page.close()
  })

  it('shows running, waiting and failed tasks', async () => {
    const asked = await testHub.send('front', 'ask about the weather')
    const page = await fixture.open(`/traces/${asked.id}?view=graph`)
    await boxes(page).filter({ hasText: 'asker' }).filter({ hasText: 'input' }).waitFor()
    await testHub.send('front', 'Lisbon', undefined, { taskId: asked.id, contextId: asked.contextId })
    await boxes(page).filter({ hasText: 'asker' }).filter({ hasText: 'completed' }).waitFor()
    await page.locator('.delegation-edge text').filter({ hasText: '2×' }).waitFor()
    await page.close()
    const tried = await testHub.send('front', 'try what cannot work')
    const other = await fixture.open(`/traces/${tried.id}?view=graph`)
    await boxes(other).filter({ hasText: 'broken' }).filter({ hasText: 'failed' }).waitFor()
    assert.equal(await other.locator('.delegation-edge.failed').count(), 1)
    await other.close()
  })

  it('returns to the waterfall by a tab, and is accessible', async () => {
    for (const look of [{}, { theme: 'dark' }, { width: 390, height: 844 }]) {
      const { page } = await open(look)
      assert.deepEqual(await seriousViolations(page), [], JSON.stringify(look))
      assert.ok(await hasNoHorizontalScroll(page), 'it is cut off')
      await page.getByRole('link', { name: 'Waterfall' }).click()
      await page.getByRole('list', { name: 'Spans' }).waitFor()
      assert.doesNotMatch(page.url(), /view=/)
      await page.close()
    }
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
