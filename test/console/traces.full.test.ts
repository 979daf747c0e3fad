/** Traces: list, waterfall and live updates. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { delegatingAgents, delegatingFiles, prices } from './delegating-agents.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { waitForCount } from './page-queries.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the traces page', async (browser) => {
  const fixture = await openConsole(browser, {
    agents: delegatingAgents,
    files: delegatingFiles,
    config: { prices },
  })
  const { testHub } = fixture

  const emptyPage = await fixture.open('/traces')
  await emptyPage.getByRole('heading', { name: 'No traces yet' }).waitFor()
  const firstCommand = await emptyPage.locator('.empty pre').innerText()
  await emptyPage.close()

  const report = await testHub.send('front', 'report on the third quarter')
  const tried = await testHub.send('front', 'try what cannot work')
  const failed = await testHub.send('talker', 'fail at once')
  const hello = await testHub.send('talker', 'hello there')

  const rows = (page: Page) => page.getByRole('list', { name: 'Traces' }).getByRole('link')
  const row = (page: Page, text: string) => rows(page).filter({ hasText: text })
  const spans = (page: Page) => page.getByRole('list', { name: 'Spans' }).getByRole('listitem')
  const span = (page: Page, name: string | RegExp) =>
    page.getByRole('list', { name: 'Spans' }).getByRole('button', { name }).first()
  const begin = async (agent: string, text: string): Promise<string> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
    const configuration = { returnImmediately: true }
    const { json } = await testHub.call(agent, 'SendMessage', { message, configuration })
    return json.result.task.id
  }

  it('explains how to send the first message while there are no traces', () => {
    assert.match(firstCommand, /^curl .*SendMessage/s)
  })

  it('lists traces newest first: request, agent, status, participants and usage', async () => {
    const page = await fixture.open('/traces')
    await row(page, 'report on the third quarter').waitFor()
    const texts = await rows(page).allInnerTexts()
    const at = (text: string): number => texts.findIndex((one) => one.includes(text))
    assert.ok(at('hello there') < at('fail at once') && at('fail at once') < at('report on'))
    const whole = texts[at('report on')] ?? ''
    for (const expected of ['Completed', 'front', '5 tasks', 'writer', 'checker', 'gpt', '46', '0.037']) {
      assert.ok(whole.includes(expected), `${expected} in ${whole}`)
    }
    assert.match(texts[at('fail at once')] ?? '', /Failed[\s\S]*✕ 1/)
    // Completed, with an error in a span.
    assert.match(texts[at('try what')] ?? '', /Completed[\s\S]*✕ \d/)
    await page.close()
  })

  it('filters by agent, status, text, duration and errors, all held in the address', async () => {
    const page = await fixture.open('/traces')
    await row(page, 'hello there').waitFor()
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('checker')
    await row(page, 'hello there').waitFor({ state: 'detached' })
    await waitForCount(rows(page), 1)
    await page.waitForURL('**/traces?agent=checker')
    await page.reload()
    await row(page, 'report on').waitFor()
    await waitForCount(rows(page), 1)
    await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click()
    await row(page, 'hello there').waitFor()

    await page.getByRole('combobox', { name: 'Status' }).selectOption('ERROR')
    await row(page, 'hello there').waitFor({ state: 'detached' })
    await row(page, 'fail at once').waitFor()
    assert.equal(await row(page, 'try what').count(), 0)
    await page.getByRole('search').getByRole('button', { name: 'Clear filters' }).click()

    await page.getByRole('checkbox', { name: 'With errors' }).check()
    await row(page, 'hello there').waitFor({ state: 'detached' })
    await row(page, 'fail at once').waitFor()
    await row(page, 'try what').waitFor()
    await page.getByRole('checkbox', { name: 'With errors' }).uncheck()

    await page.keyboard.press('/')
    await page.keyboard.type('some-model')
    await row(page, 'hello there').waitFor({ state: 'detached' })
    await waitForCount(rows(page), 1)
    await page.getByRole('searchbox').fill('nothing is called so')
    await page.getByRole('heading', { name: 'No matching traces' }).waitFor()
    await page.locator('.empty').getByRole('button', { name: 'Clear filters' }).click()
    await row(page, 'hello there').waitFor()

    await page.getByRole('combobox', { name: 'Duration' }).selectOption('10m')
    await page.getByRole('heading', { name: 'No matching traces' }).waitFor()
    await page.getByRole('combobox', { name: 'Duration' }).selectOption('')
    await page.getByRole('combobox', { name: 'Time' }).selectOption('1h')
    await row(page, 'hello there').waitFor()
    assert.match(page.url(), /\?time=1h$/)
    await page.close()
  })

  it('is navigated by keyboard: from row to row, into a trace and back', async () => {
    const page = await fixture.open('/traces?agent=talker')
    await row(page, 'hello there').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/traces/${failed.id}?agent=talker`)
    await span(page, /task talker/).waitFor()
    // In a trace, the keys move between spans; brackets move between traces.
    await page.keyboard.press('[')
    await page.waitForURL(`**/traces/${hello.id}?agent=talker`)
    await page.keyboard.press('Escape')
    await page.waitForURL('**/traces?agent=talker')
    await page.close()
  })

  it('shows a trace with its totals and its spans, each under its parent', async () => {
    const page = await fixture.open(`/traces/${report.id}`)
    await span(page, /task front/).waitFor()
    await page.getByRole('heading', { name: 'report on the third quarter', level: 2 }).waitFor()
    // The hub names its currency with its first event.
    await page.locator('.trace-totals').getByText('$0.037').waitFor()
    const totals = await page.locator('.trace-totals').innerText()
    assert.match(totals, /Tokens\s+12 in 34 out/)
    assert.match(totals, /Cost\s+\$0\.037/)
    assert.match(totals, /Tasks\s+5 5 turns/)
    assert.match(totals, /Errors\s+None/)
    const names = (await spans(page).locator('.waterfall-name').allInnerTexts()).map((one) =>
      one.split('\n')[0]?.trim(),
    )
    assert.deepEqual(
      names.map((name) => name?.replaceAll(/\s+/g, ' ').replace(/, level.*/, '')),
      [
        'task front',
        'turn 1',
        'delegate writer',
        'task writer',
        'turn 1',
        'tool search',
        'delegate gpt',
        'task gpt',
        'turn 1',
        'model some-model',
        'delegate checker',
        'task checker',
        'turn 1',
        'look closely',
        'delegate checker',
        'task checker',
        'turn 1',
        'look closely',
      ],
    )
    await page.close()
  })

  it('opens a span by its bar, too', async () => {
    const page = await fixture.open(`/traces/${report.id}`)
    const bar = await page.locator('.waterfall-bar').nth(1).boundingBox()
    assert.ok(bar !== null)
    await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2)
    await page.getByRole('complementary', { name: 'Selected span' }).waitFor()
    await page.close()
  })

  it('shows the attributes of a span, and links a call to its task', async () => {
    const page = await fixture.open(`/traces/${report.id}`)
    await span(page, /^model some-model/).click()
    await page.waitForURL(/\?span=[0-9a-f]{16}$/)
    const details = page.getByRole('complementary', { name: 'Selected span' })
    assert.match(await details.innerText(), /12 in, 34 out/)
    assert.match(await details.innerText(), /gen_ai\.response\.model/)
    await page.reload()
    await details.getByRole('heading', { name: 'model some-model' }).waitFor()
    await span(page, /^delegate writer/).click()
    await details.getByRole('link', { name: 'Open task of writer' }).click()
    await page.waitForURL(/\/tasks\/[0-9a-f-]{36}$/)
    assert.notEqual(page.url().split('/').at(-1), report.id)
    await page.goBack()
    await span(page, /^turn 1/).click()
    await details.getByRole('link', { name: 'Open task', exact: true }).waitFor()
    // Events during the span link to the log.
    assert.match(
      (await details.getByRole('row').nth(1).getByRole('link').getAttribute('href')) ?? '',
      /events\?event=\d+$/,
    )
    await details.getByRole('button', { name: 'Close span' }).click()
    await details.waitFor({ state: 'detached' })
    await page.close()
  })

  it('is navigated by keyboard: from span to span, folded, zoomed', async () => {
    const page = await fixture.open(`/traces/${report.id}`)
    await span(page, /task front/).waitFor()
    const all = await spans(page).count()
    // Without waiting between keys: no key may be lost because the focus lags behind.
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/span=/)
    const details = page.getByRole('complementary', { name: 'Selected span' })
    await details.getByRole('heading', { name: 'task writer' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('button', { name: 'Unfold task writer' }).waitFor()
    assert.equal(await spans(page).count(), all - 6)
    await page.keyboard.press('ArrowRight')
    await page.getByRole('button', { name: 'Fold task writer' }).waitFor()
    await page.keyboard.press('k')
    await details.getByRole('heading', { name: 'delegate writer' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await details.getByRole('heading', { name: 'task writer' }).waitFor()
    for (const key of ['j', 'j', 'ArrowUp', 'k', 'k', 'ArrowDown']) await page.keyboard.press(key)
    await details.getByRole('heading', { name: 'task writer' }).waitFor()
    await page.keyboard.press('z')
    await page.getByText('Zoomed to task writer').waitFor()
    assert.match(page.url(), /zoom=/)
    await page.reload()
    await page.getByText('Zoomed to task writer').waitFor()
    await page.keyboard.press('0')
    await page.getByText('Zoomed to').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Fold tasks' }).click()
    await page.getByRole('button', { name: 'Unfold all' }).waitFor()
    assert.ok((await spans(page).count()) < all)
    await page.close()
  })

  it('updates live: it grows, and shows its end', async () => {
    const page = await fixture.open('/traces')
    await row(page, 'hello there').waitFor()
    const id = await begin('front', 'wait for ever')
    await row(page, 'wait for ever').filter({ hasText: 'working' }).click()
    await span(page, /task endless.*running/).waitFor()
    const took = async (): Promise<string> =>
      spans(page).filter({ hasText: 'endless' }).locator('.waterfall-number').first().innerText()
    const before = await took()
    await waitFor(async () => ((await took()) === before ? undefined : true), 'the span grows')
    await testHub.ask('POST', `/admin/tasks/${id}/cancel`)
    await span(page, /task endless.*canceled/).waitFor()
    await row(page, 'wait for ever').filter({ hasText: 'canceled' }).waitFor()
    await page.close()
  })

  it('shows traces that wait for their caller, and continues with the answer', async () => {
    const asked = await testHub.send('front', 'ask about the weather')
    const page = await fixture.open(`/traces/${asked.id}`)
    await span(page, /task asker.*waiting/).waitFor()
    await testHub.send('front', 'Lisbon', undefined, { taskId: asked.id, contextId: asked.contextId })
    await span(page, /task front.*ok/).waitFor()
    await span(page, /turn 2/).waitFor()
    await page.close()
  })

  it('renders only the visible part of ten thousand spans, and reports what it omits', async () => {
    const { id } = await testHub.send('front', 'many 12')
    const page = await fixture.open(`/traces/${id}`)
    await span(page, /task wide/).waitFor()
    await page.getByRole('note').filter({ hasText: 'This trace is incomplete' }).waitFor()
    assert.ok((await spans(page).count()) < 80)
    await page.locator('.waterfall-rows').evaluate((list) => (list.scrollTop = list.scrollHeight))
    await waitFor(async () => {
      const place = Number(await spans(page).last().getAttribute('aria-posinset'))
      return place > 9_000 ? true : undefined
    }, 'the last span is drawn')
    assert.ok((await spans(page).count()) < 80)
    await page.close()
  })

  it('shows the first and the last of many events, and where the others are', async () => {
    const { id } = await testHub.send('wide', 'spans 4000')
    const page = await fixture.open(`/traces/${id}`)
    await span(page, /^turn 1/).click()
    await page.getByText(/\d+ events in between are not part of the trace/).waitFor()
    await page.close()
  })

  it('links from a part to the whole', async () => {
    const { json } = await testHub.ask('GET', '/admin/tasks?agent=writer')
    const page = await fixture.open(`/traces/${json.tasks[0].id}`)
    await page.getByText('Part of a larger trace, delegated by front.').waitFor()
    await page.getByRole('link', { name: 'Show the whole trace' }).click()
    await page.waitForURL(`**/traces/${report.id}`)
    await span(page, /task front/).waitFor()
    await page.close()
  })

  it('shows everything that one external trace caused', async () => {
    const traceId = 'a'.repeat(32)
    const proof = { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` }
    await testHub.send('talker', 'one of two', proof)
    await testHub.send('talker', 'two of two', proof)
    const page = await fixture.open(`/traces/${traceId}`)
    await span(page, /task talker/).waitFor()
    assert.equal(await spans(page).filter({ hasText: 'task talker' }).count(), 2)
    await page.close()
  })

  it('holds new traces back while the user reads further down, and counts them', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => testHub.send('talker', `filler ${n}`)))
    const page = await fixture.open('/traces?agent=talker')
    // Only the rows in view are rendered, so a row is named by its place in the list.
    const rowAt = (place: number) => page.locator(`.traces-list li[aria-posinset="${place}"]`)
    await rowAt(1).waitFor()
    await page.locator('.traces-list .virtual').evaluate((list) => (list.scrollTop = 600))
    await rowAt(1).waitFor({ state: 'detached' })
    const before = await rowAt(12).innerText()
    await testHub.send('talker', 'news of the day')
    const pill = page.getByRole('button', { name: '1 new' })
    await pill.waitFor()
    assert.equal((await rowAt(12).innerText()).split('\n')[1], before.split('\n')[1])
    await pill.click()
    await row(page, 'news of the day').waitFor()
    await page.close()
  })

  it('is copied as curl and exported as a file', async () => {
    const page = await fixture.open(`/traces/${report.id}`)
    await span(page, /task front/).waitFor()
    await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.trace-detail').getByRole('button', { name: 'curl' }).click()
    await waitFor(async () => {
      const text = await page.evaluate<string>('navigator.clipboard.readText()')
      return text.includes(`/admin/traces/${report.id}`) ? true : undefined
    }, 'it is copied')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^trace-[0-9a-f]{32}\.json$/)
    await page.close()
  })

  it('is accessible: no serious violation in both themes, and nothing is cut off on a phone', async () => {
    for (const theme of ['light', 'dark'] as const) {
      for (const path of ['/traces', `/traces/${tried.id}`]) {
        const page = await fixture.open(path, { theme })
        await rows(page).first().waitFor()
        if (path !== '/traces') await span(page, /^delegate broken/).click()
        assert.deepEqual(await seriousViolations(page), [], `${theme} ${path}`)
        await page.close()
      }
    }
    for (const path of ['/traces', `/traces/${report.id}`]) {
      const page = await fixture.open(path, { width: 390, height: 844 })
      await (path === '/traces' ? rows(page).first() : span(page, /task front/)).waitFor()
      assert.ok(await hasNoHorizontalScroll(page), 'it is cut off')
      assert.deepEqual(await seriousViolations(page), [], path)
      await page.close()
    }
  })

  it('opens its filters from one button on a narrow screen', async () => {
    const page = await fixture.open('/traces', { width: 390, height: 844 })
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('ERROR')
    await page.waitForURL('**/traces?status=ERROR')
    await row(page, 'fail at once').waitFor()
    await page.close()
  })

  it('names the delegated task that failed it, with the cause and a link, as the page of the task does', async () => {
    const { id } = await testHub.send('front', 'break something')
    for (const path of [`/traces/${id}`, `/tasks/${id}`]) {
      const page = await fixture.open(path)
      const failure = page.getByRole('group', { name: 'Failure' })
      await failure.getByText('broken: a secret of ours', { exact: true }).waitFor()
      await failure.getByRole('link', { name: 'Open task of broken' }).click()
      await page.waitForURL((url) => /^\/tasks\/[^/]+$/.test(url.pathname) && !url.pathname.endsWith(id))
      await failure.getByText('a secret of ours', { exact: true }).waitFor()
      await page.close()
    }
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })

  it('shows a not-found message for an unknown trace', async () => {
    const page = await fixture.open('/traces/none-of-this-name')
    await page.getByText('Trace not found.').waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    await page.waitForURL('**/traces')
    await page.close()
  })
})
