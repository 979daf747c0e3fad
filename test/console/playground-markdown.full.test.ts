/** Markdown and right-to-left scripts in the output of agents, and their layout. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Locator } from 'playwright-core'
import { seriousViolations } from './open-console.ts'
import { composer, openPlayground, sendText, taskIdOf, waitForClipboard, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

const styleOf = (one: Locator, property: string): Promise<string> =>
  one.evaluate((element: any, name) => (globalThis as any).getComputedStyle(element)[name], property)

/** In the page: scrolls the form to its end, and returns what is visible at its lower edge besides the footer. */
function whatShowsAtFoot(form: any): { readonly steps: number; readonly others: readonly string[] } {
  const steps = form.scrollHeight - form.clientHeight
  const others = new Set<string>()
  for (form.scrollTop = 0; ; form.scrollTop += 1) {
    const { left, bottom } = form.getBoundingClientRect()
    for (let x = left + 1; x < left + form.clientWidth; x += 20) {
      const at = form.ownerDocument.elementFromPoint(x, bottom - 1)
      if (at?.closest('.question-foot') === null) others.add(`${at.tagName}.${at.className}`)
    }
    if (form.scrollTop >= steps - 1) return { steps, others: [...others] }
  }
}

describeInBrowser('the output of agents', async (browser) => {
  const fixture = await openPlayground(browser)

  it('keeps task lists, whose boxes are disabled', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(
      page,
      '\n\n- [x] bread\n- [ ] wine\n\n<input type="text" value="no field"> <input type="image" src="x">',
    )
    await waitForTaskEnd(page)
    const answer = page.locator('.talk-made .markdown')
    const boxes = answer.getByRole('checkbox')
    await boxes.nth(1).waitFor()
    assert.deepEqual([await boxes.first().isChecked(), await boxes.nth(1).isChecked()], [true, false])
    assert.deepEqual([await boxes.first().isDisabled(), await boxes.nth(1).isDisabled()], [true, true])
    assert.equal(await styleOf(answer.locator('li').first(), 'listStyleType'), 'none')
    assert.equal(await answer.locator('input').count(), 2)
    assert.match(await answer.innerText(), /<input type="text" value="no field">/)
    assert.deepEqual(await seriousViolations(page), [])
    await page.close()
  })

  it('highlights code, names its language, and copies it', async () => {
    const page = await fixture.open('/playground/talker')
    const code = 'const a = "<b>" // done\n'
    await sendText(page, `\n\n\`\`\`ts\n${code}\`\`\`\n\n- item\n\n  \`\`\`nosuch"onload=x\n  plain\n  \`\`\``)
    await waitForTaskEnd(page)
    const blocks = page.locator('.talk-made .markdown .code')
    await blocks.locator('.code-keyword', { hasText: 'const' }).waitFor()
    assert.deepEqual(await page.locator('.code-language').allInnerTexts(), ['TypeScript', 'nosuch"onload=x'])
    assert.equal(await blocks.first().locator('.code-string').innerText(), '"<b>"')
    await blocks.first().getByRole('button', { name: 'Copy code' }).click()
    assert.equal(await waitForClipboard(page, 'const'), code.trimEnd())
    assert.equal(await blocks.nth(1).locator('code').innerText(), 'plain')
    assert.deepEqual(await seriousViolations(page), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator(':root[data-theme=dark]').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.close()
  })

  it('highlights the end of a long block later', async () => {
    const page = await fixture.open('/playground/flood')
    await sendText(page, 'code')
    await waitForTaskEnd(page)
    const block = page.locator('.talk-made .code')
    await block.locator('.code-number').waitFor({ state: 'attached' })
    assert.equal((await block.locator('code').textContent())?.length, 11 * 9_000 + 7)
    await page.close()
  })

  it('does not move when a long text ends, whose pieces become one', async () => {
    const page = await fixture.open('/playground/flood')
    await sendText(page, 'prose')
    const bubble = page.locator('.talk-made .talk-bubble')
    await bubble.getByRole('heading', { name: 'F' }).waitFor()
    const pieces = bubble.locator('.markdown')
    assert.ok((await pieces.count()) > 1)
    const heightOf = async (): Promise<number | undefined> => (await bubble.boundingBox())?.height
    const height = await heightOf()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await waitForTaskEnd(page, 'canceled')
    await bubble.locator('.markdown:only-child').waitFor()
    assert.equal(await heightOf(), height)
    await page.close()
  })

  it('keeps the alignment of columns', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(
      page,
      '\n\n| what | where | price | more | count |\n|:--|:-:|--:|---|---|\n| a | b | 1 | c | 1,200 |\n\n3. three\n4. four',
    )
    await waitForTaskEnd(page)
    const cells = page.locator('.talk-made .markdown td')
    await cells.nth(4).waitFor()
    const aligned = await Promise.all([0, 1, 2, 3, 4].map((index) => styleOf(cells.nth(index), 'textAlign')))
    assert.deepEqual(
      aligned.map((word) => word.replace('-webkit-', '')),
      ['left', 'center', 'right', 'start', 'right'],
    )
    assert.equal(await page.locator('.talk-made .markdown ol').getAttribute('start'), '3')
    await page.close()
  })

  it('follows the direction of its script, block by block', async () => {
    const page = await fixture.open('/playground/talker')
    const hebrew = 'שלום עולם'
    await composer(page).fill(hebrew)
    assert.equal(await styleOf(composer(page), 'direction'), 'rtl')
    await sendText(
      page,
      `${hebrew}\n\nHello world\n\n- ${hebrew}\n- Hello item\n\n> ${hebrew}\n\n| ${hebrew} | b |\n|---|---|\n| a | b |`,
    )
    await waitForTaskEnd(page)
    const answer = page.locator('.talk-made .markdown:not(.plain-text)')
    for (const block of ['ul', 'li >> nth=0', 'blockquote', 'table', 'th >> nth=0']) {
      assert.equal(await styleOf(answer.locator(block), 'direction'), 'rtl', block)
    }
    for (const block of ['li >> nth=1', 'td >> nth=0']) {
      assert.equal(await styleOf(answer.locator(block), 'direction'), 'ltr', block)
    }
    assert.equal(await styleOf(answer.getByText('Hello world'), 'direction'), 'ltr')
    assert.equal(await styleOf(page.locator('.talk-said.mine .part-text'), 'direction'), 'rtl')
    const task = taskIdOf(page)
    await page.goto(`${fixture.testHub.url}/tasks/${task}`)
    assert.equal(await styleOf(page.locator(`.task-row-link[data-row="${task}"]`), 'direction'), 'rtl')
    assert.equal(await styleOf(page.locator('.task-head h2'), 'direction'), 'rtl')
    await page.close()
  })

  it('has forms whose footer covers the scrolled content', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await fixture.open('/playground/clerk', { theme, height: 430 })
      await sendText(page, 'form')
      const form = page.getByRole('form', { name: 'Answer clerk' })
      await form.waitFor()
      const beneath = await form.evaluate(whatShowsAtFoot)
      assert.ok(beneath.steps > 50, `it scrolls by ${beneath.steps} px`)
      assert.deepEqual(beneath.others, [])
      assert.match(await styleOf(form.locator('.question-foot'), 'backgroundColor'), /^rgb\(/)
      await page.close()
    }
  })
})
