/** The same message to another agent, and both answers side by side, live. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pageWidth } from './page-queries.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { tickerOptions } from './ticker-agent.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('two tasks side by side', async (browser) => {
  const fixture = await openConsole(browser, tickerOptions)
  const { testHub } = fixture
  const ann = await testHub.key({ agents: ['*'], principal: 'ann' })
  const old = await testHub.send('talker', 'What of Rome?', ann)

  it('result from a message that is sent again to another agent', async () => {
    const page = await fixture.open(`/tasks/${old.id}`)
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByLabel('Agent', { exact: true }).last().selectOption('gpt')
    await page.getByRole('button', { name: 'Send and compare' }).click()
    await page.waitForURL(new RegExp(`/tasks/${old.id}/compare/[\\w-]+$`))
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor()
    const again = page.getByRole('region', { name: 'Second task: gpt' })
    await again.getByText('completed').waitFor()
    await again.getByText('46').waitFor()
    await again.getByText('12 in, 34 out').waitFor()
    const pair = page.getByRole('region', { name: 'answer' })
    await pair.locator('del', { hasText: 'said' }).waitFor()
    await pair.locator('ins', { hasText: 'Here is what I know' }).waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    const { json } = await testHub.ask('GET', `/admin/tasks/${id}`)
    assert.deepEqual([json.agent, json.caller, json.title], ['gpt', 'console|admin', 'What of Rome?'])
    assert.notEqual(json.contextId, old.contextId)
    await page.keyboard.press('Escape')
    await page.waitForURL(new RegExp(`/tasks/${old.id}$`))
    await page.close()
  })

  it('are compared line by line and word by word', async () => {
    const left = await testHub.send('ticker', 'tick 3 0')
    const right = await testHub.send('ticker', 'tick 5 0')
    const page = await fixture.open(`/tasks/${left.id}/compare/${right.id}`)
    const pair = page.getByRole('region', { name: 'log' })
    await pair.waitFor()
    assert.equal(await pair.locator('.diff-row.same').count(), 3)
    assert.deepEqual(await pair.locator('ins').allTextContents(), ['line 4', 'line 5'])
    const same = await fixture.open(`/tasks/${left.id}/compare/${left.id}`)
    await same.getByText('identical', { exact: true }).waitFor()
    await same.close()
    await page.close()
  })

  it('are live: later output appears without a reload', async () => {
    const asked = await testHub.send('talker', 'ask which city', ann)
    const page = await fixture.open(`/tasks/${old.id}/compare/${asked.id}`)
    const again = page.getByRole('region', { name: 'Second task: talker' })
    await again.getByText('Waiting for an answer.').waitFor()
    await testHub.send('talker', 'Rome', ann, { taskId: asked.id, contextId: asked.contextId })
    await again.getByText('completed').waitFor()
    await page.getByText('You said: Rome').first().waitFor()
    await page.close()
  })

  it('explain why the agent refused the message', async () => {
    const page = await fixture.context.newPage()
    await page.goto(`${testHub.url}/tasks/${old.id}`)
    await page.route('**/a2a/gpt', (route) =>
      route.fulfill({
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'gpt is not available now' } }),
      }),
    )
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByLabel('Agent', { exact: true }).last().selectOption('gpt')
    await page.getByRole('button', { name: 'Send and compare' }).click()
    await page.getByRole('alert').getByText('gpt is not available now', { exact: true }).waitFor()
    await page.close()
  })

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    it(`fit a screen of ${width}, and axe finds nothing serious in ${theme} colours`, async () => {
      const other = await testHub.send('artist', 'all', ann)
      const page = await fixture.open(`/tasks/${old.id}/compare/${other.id}`, { theme, width })
      await page.getByRole('region', { name: 'rows' }).waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      assert.equal(await pageWidth(page), width)
      await page.close()
    })
  }

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
