/** The playground: selecting an agent, sending messages, continuing, and returning to conversations. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { adminKey, waitFor } from '../admin/test-hub.ts'
import { maxWaitMs, seriousViolations } from './open-console.ts'
import {
  composer,
  contextIdOf,
  waitForClipboard,
  isFocused,
  releaseTurn,
  hasHorizontalScroll,
  openPlayground,
  sendText,
  taskIdOf,
  waitForTaskEnd,
} from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the playground', async (browser) => {
  const fixture = await openPlayground(browser)

  it('lists the agents, filters them while typing, and opens one', async () => {
    const page = await fixture.open('/playground')
    await page.getByRole('link', { name: /Talker/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('everything')
    await page.waitForURL('**/playground?agents=everything')
    assert.equal(await page.locator('.choose-card').count(), 2)
    await page.reload()
    await page.locator('.choose-card').first().waitFor()
    assert.equal(await page.locator('.choose-card').count(), 2)
    await page.getByLabel('Filter agents').fill('no such agent')
    await page.getByText('No matching agents').waitFor()
    await page.getByLabel('Filter agents').fill('')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/playground/talker')
    await page.getByRole('heading', { name: 'Talker' }).waitFor()
    await page.getByText('Says what you say.').waitFor()
    await page.close()
  })

  it('recovers if the hub was down while a part of the page was loaded [full]', async () => {
    // Without the error check of the harness: a browser logs the failed request.
    const page = await fixture.context.newPage()
    await page.goto(`${fixture.testHub.url}/playground/talker`)
    let refused = 0
    await page.route('**/assets/render-markdown-*.js', async (route) => {
      refused += 1
      if (refused < 3) await route.abort('connectionrefused')
      else await route.continue()
    })
    await sendText(page, '# A heading')
    await waitForTaskEnd(page)
    await page.locator('.talk-made .markdown:not(.plain-text)').waitFor()
    assert.equal(refused, 3)
    await page.close()
  })

  it('sends on Enter, shows the answer, and has conversation and task in the address', async () => {
    const page = await fixture.open('/playground/talker')
    await composer(page).pressSequentially('two')
    await composer(page).press('Shift+Enter')
    await composer(page).pressSequentially('lines')
    await composer(page).press('Enter')
    await waitForTaskEnd(page)
    assert.equal(await page.locator('.talk-said.mine .part-text').innerText(), 'two\nlines')
    assert.equal(await page.locator('.talk-made .markdown').innerText(), 'You said: two\nlines')
    const { json } = await fixture.testHub.ask('GET', `/admin/tasks/${taskIdOf(page)}`)
    assert.equal(json.caller, 'console|admin')
    assert.equal(json.contextId, contextIdOf(page))
    assert.equal(await composer(page).inputValue(), '')
    assert.ok(await isFocused(composer(page)))
    await page.close()
  })

  it('shows the same after a reload, from the log', async () => {
    const page = await fixture.open('/playground/concierge')
    await sendText(page, 'A table, please')
    await page.locator('.talk-asked').waitFor()
    await sendText(page, 'Rome, two')
    await waitForTaskEnd(page)
    // The artifact has its time from the log, which the page reads at the end of the task.
    await page
      .locator('.talk-made .talk-time')
      .getByText(/\d\d:\d\d/)
      .first()
      .waitFor()
    // Times of the log are to the millisecond, those of the page as it received them.
    const shown = async () => (await page.locator('.talk').innerText()).replaceAll(/\d\d:\d\d:\d\d| in [\d.]+ m?s/g, '')
    const before = await shown()
    await page.reload()
    await waitForTaskEnd(page)
    assert.equal(await shown(), before)
    assert.match(before, /Looking for a table in Rome, two/)
    await page.close()
  })

  it('sends messages to a running task, which the agent handles next [full]', async () => {
    const page = await fixture.open('/playground/queuing')
    await sendText(page, 'hold')
    await page.locator('.talk-made').getByText('Holding.').waitFor()
    const task = taskIdOf(page)
    await page.getByText('The agent handles it after its current turn.').waitFor()
    assert.equal(await composer(page).getAttribute('aria-label'), 'Message the running task')
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await sendText(page, 'more')
    await page.locator('.talk-said.mine').filter({ hasText: 'more' }).getByText('queued for the next turn').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    releaseTurn()
    await waitForTaskEnd(page)
    await page.getByText('Then: more').waitFor()
    assert.equal(taskIdOf(page), task)
    assert.equal(await page.locator('.chat-task').count(), 1)
    await page.close()
  })

  it('steers an agent that reads messages while it works', async () => {
    const page = await fixture.open('/playground/steered')
    await sendText(page, 'hold')
    await page.getByText('The agent receives it while it works.').waitFor()
    await sendText(page, 'faster')
    await page.getByText('sent to the running turn').waitFor()
    await page.getByText('Meanwhile: faster.').waitFor()
    releaseTurn()
    await waitForTaskEnd(page)
    await page.close()
  })

  it('offers only to cancel a task whose agent accepts no messages while it works [full]', async () => {
    const page = await fixture.open('/playground/rejecting')
    await sendText(page, 'hold')
    await page.getByText('This agent accepts no messages while it works.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send' }).count(), 0)
    await sendText(page, 'not now')
    assert.equal(await composer(page).inputValue(), 'not now')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await waitForTaskEnd(page, 'canceled')
    assert.equal(await page.locator('.talk-said.mine').count(), 1)
    await page.close()
  })

  it('shows why a task failed, and sends its message again', async () => {
    const page = await fixture.open('/playground/queuing')
    await sendText(page, 'fail')
    await waitForTaskEnd(page, 'failed')
    const failure = page.getByRole('group', { name: 'The task failed' })
    await failure.getByText('the printer is on fire').first().waitFor()
    assert.equal(
      await failure.getByRole('link', { name: 'Open task' }).getAttribute('href'),
      `/tasks/${taskIdOf(page)}`,
    )
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.chat-task').nth(1).locator('.talk-end').waitFor()
    await page.close()
  })

  it('compares two agents on one prompt, with times and links, also after a reload [full]', async () => {
    const page = await fixture.open('/playground/talker')
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.waitForURL('**/playground/compare?left=talker')
    assert.equal(await page.getByRole('button', { name: 'Send' }).count(), 0)
    await page.getByLabel('Second agent').selectOption('queuing')
    await page.keyboard.press('i')
    await sendText(page, 'hello')
    const sides = [
      page.getByRole('region', { name: 'Result of talker' }),
      page.getByRole('region', { name: 'Result of queuing' }),
    ]
    const check = async (): Promise<void> => {
      for (const [index, answer] of ['You said: hello', 'Then: hello'].entries()) {
        const side = sides[index]
        assert.ok(side !== undefined)
        await side.getByText(answer).waitFor()
        await side.locator('.talk-end').waitFor()
        await side
          .locator('dt', { hasText: 'Total time' })
          .locator('xpath=following-sibling::dd')
          .getByText(/^\d.* m?s$/)
          .waitFor()
        await side.locator('dt', { hasText: 'Time to first token' }).waitFor()
        assert.match((await side.getByRole('link', { name: 'Open task' }).getAttribute('href')) ?? '', /^\/tasks\/./)
      }
    }
    await check()
    assert.deepEqual(await seriousViolations(page), [])
    await page.reload()
    await check()
    await page.setViewportSize({ width: 390, height: 844 })
    assert.equal(await hasHorizontalScroll(page), false)
    await page.close()
  })

  it('continues the task that asks, then opens a new task in the same conversation, or starts another one [full]', async () => {
    const page = await fixture.open('/playground/concierge')
    await sendText(page, 'A table, please')
    await page.getByText('Replying to this task').waitFor()
    const task = taskIdOf(page)
    const context = contextIdOf(page)
    assert.equal(await composer(page).getAttribute('aria-label'), 'Answer concierge')
    await page.getByRole('button', { name: 'Start a new task' }).click()
    await page.getByText('Starts a new task in this conversation').waitFor()
    assert.equal(taskIdOf(page), '')
    await page.getByRole('button', { name: 'Reply to the question' }).click()
    await sendText(page, 'Oslo, three')
    await waitForTaskEnd(page)
    assert.equal(taskIdOf(page), task)
    await sendText(page, 'Another table')
    await page.locator('.chat-task').nth(1).locator('.talk-asked').waitFor()
    await waitFor(async () => (taskIdOf(page) !== task ? true : undefined), 'the address names the new task')
    assert.equal(contextIdOf(page), context)
    await page.reload()
    await page.locator('.chat-task').nth(1).locator('.talk-asked').waitFor()
    await page.getByRole('link', { name: 'New' }).click()
    await page.waitForURL('**/playground/concierge')
    // The address changes before the page is drawn.
    await page.locator('.chat-task').first().waitFor({ state: 'detached' })
    await page.goBack()
    await page.locator('.chat-task').nth(1).waitFor()
    await page.close()
  })

  it('starts with the text of the address, and removes it from there once it is sent [full]', async () => {
    const page = await fixture.open('/playground/talker?text=from%20a%20link')
    assert.equal(await composer(page).inputValue(), 'from a link')
    assert.equal(await page.locator('.talk').count(), 0)
    await composer(page).press('Enter')
    await waitForTaskEnd(page)
    assert.equal(new URL(page.url()).searchParams.get('text'), null)
    await page.close()
  })

  it('offers the examples of the card', async () => {
    const page = await fixture.open('/playground/clock')
    await page.getByRole('region', { name: 'Skills' }).getByRole('link', { name: 'Use example: 10' }).click()
    await page.waitForURL('**/playground/clock?text=10')
    assert.equal(await composer(page).inputValue(), '10')
    await page.close()
  })

  it('cancels running and waiting tasks [full]', async () => {
    const page = await fixture.open('/playground/clock')
    await sendText(page, '600')
    // A busy page shows the first numbers at once.
    await page.locator('.talk-made').getByText(/^1/).first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await waitForTaskEnd(page, 'canceled')
    await page.goto(`${fixture.testHub.url}/playground/concierge`)
    await sendText(page, 'A table')
    await page.getByRole('button', { name: 'Cancel task' }).click()
    await waitForTaskEnd(page, 'canceled')
    const { json } = await fixture.testHub.ask('GET', `/admin/tasks/${taskIdOf(page)}`)
    assert.equal(json.state, 'TASK_STATE_CANCELED')
    await page.close()
  })

  it('sends the last message again under another id, also after a reload [full]', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(page, 'once more')
    await waitForTaskEnd(page)
    await page.reload()
    await waitForTaskEnd(page)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.locator('.chat-task').nth(1).locator('.talk-end').waitFor()
    const { json } = await fixture.testHub.ask('GET', `/admin/tasks?context=${contextIdOf(page)}`)
    const ids = await Promise.all(
      json.tasks.map(async ({ id }: { id: string }) => {
        const detail = await fixture.testHub.ask('GET', `/admin/tasks/${id}`)
        return detail.json.task.history[0].messageId
      }),
    )
    assert.equal(new Set(ids).size, 2)
    await page.close()
  })

  it('copies the last request as a command [full]', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(page, "it's me")
    await waitForTaskEnd(page)
    await page.getByRole('button', { name: 'curl' }).click()
    const command = await waitForClipboard(page, 'curl')
    assert.match(command, /^curl -N -X POST '.*\/a2a\/talker'/)
    assert.match(command, /-H 'a2a-version: 1.0'/)
    assert.doesNotMatch(command, /authorization|csrf|cookie/i)
    assert.ok(command.includes(String.raw`it'\''s me`))
    await page.close()
  })

  it('lists past conversations, searches them, and continues one [full]', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(page, 'remember the milk')
    await waitForTaskEnd(page)
    await sendText(page, 'and the bread')
    await page.locator('.chat-task').nth(1).locator('.talk-end').waitFor()
    const context = contextIdOf(page)
    await page.goto(`${fixture.testHub.url}/playground`)
    await page.getByLabel('Filter conversations').fill('milk')
    const row = page.locator('.recent-row')
    await page.getByText('2 tasks').waitFor()
    assert.equal(await row.count(), 1)
    await row.click()
    await page.locator('.chat-task').nth(1).waitFor()
    assert.equal(contextIdOf(page), context)
    assert.equal(await page.locator('.recent-row[aria-current]').count(), 1)
    await page.close()
  })

  it('shows what other clients do in the conversation, live', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(page, 'begun here')
    await waitForTaskEnd(page)
    const session = await (await fixture.context.request.get('/admin/session')).json()
    const message = {
      messageId: 'elsewhere-1',
      role: 'ROLE_USER',
      contextId: contextIdOf(page),
      parts: [{ text: 'from another tab' }],
    }
    const sent = await fixture.context.request.post('/a2a/talker', {
      headers: { 'a2a-version': '1.0', 'x-csrf-token': session.csrf },
      data: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
    })
    assert.equal(sent.status(), 200)
    await page.getByText('You said: from another tab').waitFor()
    await page.close()
  })

  it('shows the conversation of another caller, and marks it as theirs', async () => {
    const { id } = await fixture.testHub.send('talker', 'I am another caller')
    const page = await fixture.open(`/playground/talker?task=${id}`)
    await page.getByText('You said: I am another caller').waitFor()
    await page.getByText(/This conversation belongs to anonymous/).waitFor()
    assert.equal(await composer(page).count(), 0)
    await page.close()
  })

  it('shows why a task failed, and errors of an address', async () => {
    const page = await fixture.open('/playground/talker')
    await sendText(page, 'fail')
    await waitForTaskEnd(page, 'failed')
    assert.doesNotMatch(await page.locator('.talk').innerText(), /a secret of ours/)
    await page.goto(`${fixture.testHub.url}/playground/talker?task=unknown-task`)
    await page.getByRole('alert').waitFor()
    assert.match(await page.getByRole('alert').innerText(), /There is no task unknown-task\./)
    const { id } = await fixture.testHub.send('talker', 'one of talker')
    await page.goto(`${fixture.testHub.url}/playground/clock?task=${id}`)
    await page.getByText('This task belongs to talker.').first().waitFor()
    await page.close()
  })

  it('switches the agent by a few letters of its name [full]', async () => {
    const page = await fixture.open('/playground/talker?version=0.3')
    await composer(page).press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('conc')
    await page.getByRole('option', { name: /concierge/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/playground/concierge?version=0.3')
    await page.getByRole('combobox', { name: 'Agent' }).fill('zzz')
    await page.getByText('No matching agents').waitFor()
    await page.close()
  })

  it('is usable by keyboard', async () => {
    const page = await fixture.open('/playground/talker')
    await composer(page).press('Escape')
    await page.keyboard.press('w')
    await page.getByRole('heading', { name: 'Protocol' }).waitFor()
    await page.keyboard.press('w')
    await page.keyboard.press('i')
    await page.keyboard.type('by hand')
    await page.keyboard.press('Enter')
    await waitForTaskEnd(page)
    await composer(page).press('Escape')
    await page.keyboard.press('n')
    await page.waitForURL('**/playground/talker')
    await composer(page).press('Escape')
    await page.keyboard.press('?')
    assert.match(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).innerText(), /New conversation/)
    await page.close()
  })

  it('keeps its scroll position when more arrives, and links back to the end [full]', async () => {
    const page = await fixture.open('/playground/flood')
    await sendText(page, '3000')
    await waitForTaskEnd(page)
    const view = page.locator('.chat-scroll')
    const place = () => view.evaluate((element) => [element.scrollTop, element.scrollHeight - element.clientHeight])
    const [top = 0, end = 0] = await place()
    assert.ok(end > 0 && end - top < 40)
    await view.evaluate((element) => (element.scrollTop = 0))
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    await waitFor(async () => ((await place())[0] ?? 0) > 0 || undefined, 'it is at the end again')
    await page.close()
  })

  it('renders five thousand chunks without loss, at most once a frame, and only new ones [full]', async () => {
    const page = await fixture.open('/playground/flood?protocol=1')
    await composer(page).waitFor()
    await page.evaluate(`
      globalThis.drawn = { frames: 0, times: 0, nodes: 0 }
      const tick = () => requestAnimationFrame(() => (drawn.frames += 1, tick()))
      tick()
      new MutationObserver((changes) => {
        drawn.times += 1
        for (const { addedNodes } of changes) drawn.nodes += addedNodes.length
      }).observe(document.querySelector('.chat-inside'), { childList: true, subtree: true, characterData: true })
    `)
    await sendText(page, '5000')
    await page.locator('.talk-end').waitFor()
    const words = (await page.locator('.talk-made .talk-bubble').innerText()).split(/\s+/)
    assert.deepEqual(
      words,
      Array.from({ length: 5_000 }, (_, index) => `w${index}`),
    )
    const { frames, times, nodes } = await page.evaluate<{ frames: number; times: number; nodes: number }>('drawn')
    // A page that draws each chunk, or the whole text with each, draws thousands of times as much.
    assert.ok(times > 0 && times <= frames + 50, `drawn ${times} times in ${frames} frames`)
    assert.ok(nodes <= times * 20 + 1_000, `${nodes} nodes were made, drawing ${times} times`)
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`has no serious violation in ${theme} colours [full]`, async () => {
      const page = await fixture.open('/playground', { theme })
      await page.locator('.choose-card').first().waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      await page.goto(`${fixture.testHub.url}/playground/concierge?protocol=1`)
      await sendText(page, 'A table')
      await page.locator('.talk-asked').waitFor()
      await page.locator('.protocol-open').first().click()
      assert.deepEqual(await seriousViolations(page), [])
      await page.close()
    })
  }

  it('fits a phone [full]', async () => {
    const page = await fixture.open('/playground/concierge', { width: 390, height: 844 })
    await sendText(page, 'A table, please')
    await page.locator('.talk-asked').waitFor()
    await sendText(page, 'Rome')
    await waitForTaskEnd(page)
    assert.equal(await hasHorizontalScroll(page), false)
    await page.getByRole('button', { name: 'Protocol' }).click()
    await page.locator('.protocol-open').first().waitFor()
    assert.equal(await hasHorizontalScroll(page), false)
    await page.getByRole('button', { name: 'Close protocol' }).click()
    await page.getByRole('link', { name: 'Close' }).click()
    await page.waitForURL('**/playground')
    assert.equal(await hasHorizontalScroll(page), false)
    await page.locator('.recent-row').first().waitFor()
    await page.close()
  })

  it('asks to sign in again when the session has ended, and keeps what was typed or refused', async () => {
    const context = await browser.newContext({ baseURL: fixture.testHub.url })
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    const enter = async (): Promise<void> => {
      await page.getByLabel('Admin key').fill(adminKey)
      await page.keyboard.press('Enter')
      await composer(page).waitFor()
    }
    const endSession = async (): Promise<void> => {
      const session = await (await context.request.get('/admin/session')).json()
      await context.request.delete('/admin/session', { headers: { 'x-csrf-token': session.csrf } })
    }
    const ended = page.getByRole('alert').getByText('Your session has ended')
    await page.goto('/playground/talker')
    await enter()
    await composer(page).fill('still there?')
    await endSession()
    await ended.waitFor()
    await enter()
    assert.equal(await composer(page).inputValue(), 'still there?')
    // The agents of this hub accept anonymous callers: another one would refuse the message like this.
    await page.route('**/a2a/talker', async (route) => {
      await endSession()
      // Unless the page has noticed the end by then, and has given the request up.
      await route.fulfill({ status: 401, json: { error: { code: 401, message: 'no session' } } }).catch(() => {})
    })
    await page.keyboard.press('Enter')
    await ended.waitFor()
    await enter()
    assert.equal(await composer(page).inputValue(), 'still there?')
    assert.equal(await page.getByText('Your session has ended').count(), 0)
    await context.close()
  })

  it('keeps what was typed while another page or conversation is open, until the user signs out', async () => {
    const { id, contextId } = await fixture.testHub.send('echo', 'Hello')
    const page = await fixture.open('/playground/talker')
    await waitFor(
      async () => ((await page.title()) === 'talker · Playground · Parley' ? true : undefined),
      'the title names the agent and the page',
    )
    await composer(page).fill('not sent yet')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.goBack()
    await composer(page).waitFor()
    assert.equal(await composer(page).inputValue(), 'not sent yet')
    await page.evaluate(
      `history.pushState(null, '', '/playground/echo?context=${contextId}&task=${id}'); dispatchEvent(new PopStateEvent('popstate'))`,
    )
    await page
      .getByText(/This conversation belongs to|echo/)
      .first()
      .waitFor()
    await page.goBack()
    await composer(page).waitFor()
    assert.equal(await composer(page).inputValue(), 'not sent yet')
    await page.close()
  })

  it('causes no page errors', () => {
    // A browser logs each error response; those above are expected.
    const others = fixture.pageErrors.filter((text) => !/status of 40[04]/.test(text))
    assert.deepEqual(others, [])
  })
})
