/** The list of tasks: filtered, live, by keyboard, on a phone; new tasks do not move the rows being read. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import type { AuthHeaders } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { readClipboard, waitForCount, waitForText, pageWidth } from './page-queries.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

/** Fails in the way that the message names. */
const failing = `
export default async function* ({ text, signal }) {
  if (text === 'sleep') await new Promise((resolve) => signal.addEventListener('abort', resolve))
  else yield { state: 'TASK_STATE_' + text, message: { parts: [{ text: 'Two tests are red' }] } }
}
`

describeInBrowser('the list of tasks', async (browser) => {
  const fixture = await openConsole(browser, {
    files: { 'failing.mjs': failing },
    agents: {
      reporter: { kind: 'module', path: './failing.mjs' },
      refuser: { kind: 'module', path: './failing.mjs' },
      sleeper: { kind: 'module', path: './failing.mjs', timeout: '50ms' },
      offline: { kind: 'openai', baseUrl: `http://127.0.0.1:${await freePort()}`, model: 'none' },
    },
  })
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const rows = (page: Page) => page.getByRole('table', { name: 'Tasks' }).locator('.task-row')
  const titles = (page: Page): Promise<string[]> => page.locator('.task-row-link').allTextContents()
  const selectedTitle = (page: Page) => page.locator('.task-row-link[aria-current]').textContent()

  let ann: AuthHeaders = {}
  let hello: any
  let failed: any

  it('explains how to create the first task, and shows it at once', async () => {
    const page = await fixture.open('/tasks')
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
    await page.getByRole('button', { name: 'Copy command' }).click()
    assert.match(await readClipboard(page), /^curl 'http:\/\/127\.0\.0\.1:\d+\/a2a\/talker'/)
    assert.match((await page.getByRole('link', { name: 'Open playground' }).getAttribute('href')) ?? '', /talker$/)
    await testHub.send('talker', 'the very first')
    await rows(page).filter({ hasText: 'the very first' }).waitFor()
    await page.close()

    ann = await testHub.key({ agents: ['*'], principal: 'ann' })
    hello = await testHub.send('talker', 'Hello from Ann', ann)
    await testHub.send('talker', 'ask about a city', ann)
    failed = await testHub.send('talker', 'fail without a reason')
    await testHub.send('shout', 'a louder hello', ann)
  })

  it('shows the newest status first, with state, agent, title, caller, time and duration', async () => {
    const page = await fixture.open('/tasks')
    await rows(page).first().waitFor()
    assert.deepEqual((await titles(page)).slice(0, 4), [
      'a louder hello',
      'fail without a reason',
      'ask about a city',
      'Hello from Ann',
    ])
    const row = rows(page).filter({ hasText: 'Hello from Ann' })
    for (const text of [/Completed$/, /^talker$/, /^You said: Hello from Ann$/, /^ann$/])
      await row.getByText(text).waitFor()
    assert.match((await row.locator('.task-row-duration').textContent()) ?? '', /^\d+(\.\d)? m?s$/)
    assert.match((await row.locator('time').getAttribute('title')) ?? '', /\d\d:\d\d:\d\d\.\d{3}$/)
    assert.equal(await page.getByText('5 tasks').count(), 1)
    // A column that is too narrow for its pill cuts it.
    const widths = await row.locator('.task-row-state').evaluate((cell) => {
      ;(cell as any).style.width = '60px'
      return [cell.clientWidth, cell.children[0]?.getBoundingClientRect().width]
    })
    assert.deepEqual(widths, [60, 60])
    await page.close()
  })

  it('is filtered by every filter, each held in the address', async () => {
    const page = await fixture.open('/tasks')
    await page.getByLabel('Agent').selectOption('shout')
    await waitForCount(page.locator('.task-row'), 1)
    assert.match(page.url(), /agent=shout/)
    await page.getByRole('button', { name: 'Clear filters' }).click()

    await page.getByRole('search').getByRole('button', { name: 'State' }).click()
    await page.getByLabel('Failed').check()
    await page.getByLabel('Needs input').check()
    await page.keyboard.press('Escape')
    await waitForCount(page.locator('.task-row'), 2)
    assert.deepEqual(await titles(page), ['fail without a reason', 'ask about a city'])
    assert.match(decodeURIComponent(page.url()), /state=TASK_STATE_FAILED,TASK_STATE_INPUT_REQUIRED/)

    await page.getByRole('searchbox', { name: 'Text' }).fill('CITY')
    await waitForCount(page.locator('.task-row'), 1)
    await page.reload()
    await rows(page).first().waitFor()
    assert.deepEqual(await titles(page), ['ask about a city'])
    assert.equal(await page.getByRole('searchbox', { name: 'Text' }).inputValue(), 'CITY')
    await page.getByRole('button', { name: 'Clear filters' }).click()

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByLabel('Caller').fill('ann')
    await page.getByLabel('Context').fill(hello.contextId)
    await page.getByRole('button', { name: 'Apply' }).click()
    await waitForCount(page.locator('.task-row'), 1)
    assert.deepEqual(await titles(page), ['Hello from Ann'])
    await page.getByRole('button', { name: /^Context .*remove/ }).click()
    await waitForCount(page.locator('.task-row'), 3)
    assert.match(page.url(), /\?caller=ann$/)
    await page.goBack()
    await waitForCount(page.locator('.task-row'), 1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByLabel('Top-level only').check()
    await page.waitForURL('**/tasks?level=top')
    await waitForCount(page.locator('.task-row'), 5)
    await page.getByRole('button', { name: /^Level .*remove/ }).click()
    await page.waitForURL('**/tasks')
    await page.close()
  })

  it('is filtered by time, also by a custom range', async () => {
    const page = await fixture.open('/tasks?time=15m')
    await rows(page).first().waitFor()
    assert.equal(await rows(page).count(), 5)
    await page.getByLabel('Time').selectOption('custom')
    await page.getByLabel('From').fill('2030-01-01T00:00')
    await page.getByRole('heading', { name: 'No matching tasks' }).waitFor()
    assert.match(page.url(), /since=20(29|30)-/)
    await page.locator('.empty').getByRole('button', { name: 'Clear filters' }).click()
    await rows(page).first().waitFor()
    assert.equal(new URL(page.url()).search, '')
    await page.close()
  })

  it('is sorted by its headers, in the address, and the hub sorts all pages', async () => {
    const page = await fixture.open('/tasks')
    await rows(page).first().waitFor()
    const header = (name: string) => page.getByRole('columnheader', { name })
    assert.equal(await header('Updated').getAttribute('aria-sort'), 'descending')
    await header('Agent').getByRole('button').click()
    await page.waitForURL(/\?sort=agent$/)
    await waitForText(page.locator('.task-row-link').first(), 'a louder hello')
    assert.equal(await header('Agent').getAttribute('aria-sort'), 'ascending')
    await header('State').getByRole('button').focus()
    await page.keyboard.press('Enter')
    await waitForText(page.locator('.task-row-link').first(), 'ask about a city')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?sort=state&order=desc$/)
    await waitForText(page.locator('.task-row-link').last(), 'ask about a city')
    await page.reload()
    await waitForText(page.locator('.task-row-link').last(), 'ask about a city')
    await rows(page).last().click()
    await page.waitForURL(/\/tasks\/[\w-]+\?sort=state&order=desc$/)
    await page.getByRole('link', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByLabel('Sort by').selectOption('Last update, oldest first')
    await waitForText(page.locator('.task-row-link').first(), 'the very first')
    await page.close()
  })

  it('has the columns that the user chooses, and remembers them', async () => {
    const page = await fixture.open('/tasks')
    const headers = (): Promise<string[]> => page.getByRole('columnheader').allInnerTexts()
    await rows(page).first().waitFor()
    assert.deepEqual(
      (await headers()).map((text) => text.replace(/\W/g, '')),
      ['State', 'Agent', 'Task', 'Result', 'Caller', 'Duration', 'Updated'],
    )
    await page.getByRole('button', { name: 'View' }).focus()
    await page.keyboard.press('Enter')
    // A menu that has opened moves the focus into it.
    await page.locator('.menu-panel :focus').waitFor()
    await page.getByLabel('Caller').focus()
    await page.keyboard.press('Space')
    await page.getByLabel('Events').check()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'Events' }).waitFor()
    await page.reload()
    await rows(page).first().waitFor()
    assert.deepEqual(
      (await headers()).map((text) => text.replace(/\W/g, '')),
      ['State', 'Agent', 'Task', 'Result', 'Events', 'Duration', 'Updated'],
    )
    await page.evaluate(() => localStorage.removeItem('parley.tasks.columns'))
    await page.close()
  })

  it('shows why a task failed, in its row and at the top of the task, and resends it', async () => {
    const page = await fixture.open('/tasks?state=TASK_STATE_FAILED')
    const result = rows(page).filter({ hasText: 'fail without a reason' }).locator('.task-result')
    await waitForText(result, /^The agent failed: .*a secret of ours/)
    await result.click()
    const notice = page.getByRole('group', { name: 'Failure' })
    await notice.getByText('The agent failed', { exact: true }).waitFor()
    await notice.getByText(/^a secret of ours/).waitFor()
    await notice.getByText('The agent failed with this error.').waitFor()
    await notice.getByText('Details').click()
    await notice.getByText(/talker\.ts/).waitFor()
    assert.equal(await notice.getByRole('link', { name: 'Open agent' }).getAttribute('href'), '/agents/talker')
    assert.deepEqual(await seriousViolations(page), [])
    await notice.getByRole('button', { name: 'Resend' }).click()
    await page.waitForURL(new RegExp(`/tasks/${failed.id}/compare/`))
    await page.close()
  })

  for (const [agent, text, title, cause, advice] of [
    ['reporter', 'FAILED', 'Two tests are red', '', 'The agent ended the task itself.'],
    ['refuser', 'REJECTED', 'Two tests are red', '', 'Change the request, or send it to another agent.'],
    ['sleeper', 'sleep', 'Task timed out', 'the turn took too long', 'The agent exceeded its time limit.'],
    [
      'offline',
      'hello',
      /unavailable|reached|down/,
      /ECONNREFUSED/,
      'The agent, or a service that it uses, could not be reached.',
    ],
  ] as const) {
    it(`explains the failure of an agent: ${agent}`, async () => {
      const { id } = await testHub.send(agent, text)
      const page = await fixture.open(`/tasks/${id}`)
      const notice = page.getByRole('group', { name: 'Failure' })
      await notice.locator('.trouble-title').getByText(title).waitFor()
      if (cause !== '') await notice.locator('.trouble-cause').getByText(cause).waitFor()
      else assert.equal(await notice.locator('.trouble-cause').count(), 0)
      await notice.getByText(advice).waitFor()
      await page.close()
    })
  }

  it('updates without a reload when tasks change', async () => {
    const page = await fixture.open('/tasks?state=TASK_STATE_WORKING')
    await page.getByRole('heading', { name: 'No matching tasks' }).waitFor()
    const waiting = testHub.send('talker', 'wait for me', ann).catch(() => {})
    const row = rows(page).filter({ hasText: 'wait for me' })
    await row.getByText('Working').waitFor()
    const { tasks } = (await testHub.ask('GET', '/admin/tasks?state=TASK_STATE_WORKING')).json
    await testHub.ask('POST', `/admin/tasks/${tasks[0].id}/cancel`)
    await row.waitFor({ state: 'detached' })
    await waiting
    await page.close()
  })

  it('continues after the hub was unreachable', async () => {
    const page = await fixture.context.newPage()
    await page.goto(`${testHub.url}/tasks`)
    await rows(page).first().waitFor()
    await page.route('**/admin/tasks?*', (route) => route.abort())
    await page.getByLabel('Agent').selectOption('talker')
    await page.getByRole('alert').getByText('The hub cannot be reached', { exact: true }).waitFor()
    await page.unroute('**/admin/tasks?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await rows(page).filter({ hasText: 'Hello from Ann' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })

  it('is navigated, opened, closed and copied from by keyboard', async () => {
    const page = await fixture.open('/tasks')
    await rows(page).first().waitFor()
    const [first, second] = await titles(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    assert.equal(await page.locator('.task-row-link:focus').textContent(), second)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tasks\/[\w-]+$/)
    assert.equal(await selectedTitle(page), second)
    await page.keyboard.press('k')
    await waitForText(page.locator('.task-detail h2'), first ?? '')
    assert.equal(await selectedTitle(page), first)
    await page.keyboard.press('c')
    assert.equal(await readClipboard(page), new URL(page.url()).pathname.split('/')[2])
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/tasks$/)
    await page.keyboard.press('/')
    await page.keyboard.type('louder')
    await page.waitForURL(/text=louder/)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Next task').waitFor()
    await page.close()
  })

  it('keeps the filters while a task is open, and its own width', async () => {
    const page = await fixture.open('/tasks?agent=talker')
    await rows(page).filter({ hasText: 'Hello from Ann' }).click()
    await page.getByRole('heading', { name: 'Hello from Ann', level: 2 }).waitFor()
    assert.match(page.url(), new RegExp(`/tasks/${hello.id}\\?agent=talker$`))
    await page.getByRole('separator').focus()
    const width = () => page.locator('.split-list').evaluate((list) => list.clientWidth)
    const before = await width()
    await page.keyboard.press('ArrowRight')
    await waitFor(async () => ((await width()) > before ? true : undefined), 'the list is wider')
    await page.getByRole('link', { name: 'Close' }).click()
    await page.waitForURL(/\/tasks\?agent=talker$/)
    await page.close()
  })

  it('is copied as a request and exported as a file, as it is filtered', async () => {
    const page = await fixture.open('/tasks?caller=ann&text=hello')
    await rows(page).first().waitFor()
    await page.getByRole('button', { name: 'curl' }).click()
    assert.match(
      await readClipboard(page),
      /Bearer \$PARLEY_ADMIN_KEY" 'http:.*\/admin\/tasks\?caller=ann&text=hello'$/,
    )
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^tasks-\d{4}-\d\d-\d\d\.json$/)
    const tasks = JSON.parse(await readFile(await file.path(), 'utf8'))
    assert.deepEqual(
      tasks.map(({ title }: any) => title),
      ['a louder hello', 'Hello from Ann'],
    )
    await page.getByText('2 tasks exported').first().waitFor()
    await page.close()
  })

  it('belong to callers, which the settings list by the names of their keys, with links to their tasks', async () => {
    await testHub.send('talker', 'from the notebook', await testHub.key({ agents: ['*'], name: 'notebook' }))
    const page = await fixture.open('/settings/callers')
    const row = (name: string) => page.getByRole('row', { name })
    await row('ann').getByRole('link', { name: 'ann' }).waitFor()
    await row('anonymous').locator('.mistake').waitFor()
    await row('notebook').getByRole('cell', { name: '1', exact: true }).waitFor()
    const notebook = row('notebook').getByRole('link')
    assert.match((await notebook.getAttribute('href')) ?? '', /^\/tasks\?caller=key%3A/)
    await notebook.click()
    await rows(page).filter({ hasText: 'from the notebook' }).waitFor()
    assert.deepEqual(await titles(page), ['from the notebook'])
    await page.close()
  })

  it('does not move the rows that the user reads: new tasks wait behind a button', async () => {
    for (let number = 0; number < 30; number += 1) await testHub.send('talker', `one of many ${number}`)
    const page = await fixture.open('/tasks', { height: 500 })
    await rows(page).first().waitFor()
    const list = page.locator('.task-list .virtual')
    await list.evaluate((element) => (element.scrollTop = 400))
    await waitForCount(page.getByText('one of many 29', { exact: true }), 0)
    const places = () =>
      list.evaluate((element) =>
        [...element.querySelectorAll<any>('.task-row')].map((row) => [
          row.querySelector('a').dataset['row'],
          Math.round(row.getBoundingClientRect().top),
        ]),
      )
    const before = await places()
    for (let number = 0; number < 3; number += 1) await testHub.send('talker', `news ${number}`)
    await page.getByRole('button', { name: '3 new' }).waitFor()
    assert.deepEqual(await places(), before)
    await page.getByRole('button', { name: '3 new' }).click()
    await rows(page).filter({ hasText: 'news 2' }).waitFor()
    assert.deepEqual((await titles(page)).slice(0, 3), ['news 2', 'news 1', 'news 0'])
    assert.equal(await list.evaluate((element) => element.scrollTop), 0)
    await page.close()
  })

  it('holds still under the pointer, and shows new tasks when it leaves', async () => {
    const page = await fixture.open('/tasks')
    await rows(page).first().hover()
    const before = await titles(page)
    await testHub.send('talker', 'behind the pointer 1')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await testHub.send('talker', 'behind the pointer 2')
    await page.getByRole('button', { name: '2 new' }).waitFor()
    assert.deepEqual(await titles(page), before)
    // The way to the button does not show them yet.
    await page.getByRole('button', { name: '2 new' }).click()
    await rows(page).filter({ hasText: 'behind the pointer 2' }).waitFor()
    await rows(page).nth(3).hover()
    await testHub.send('talker', 'behind the pointer 3')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).hover()
    await rows(page).filter({ hasText: 'behind the pointer 3' }).waitFor()
    assert.equal((await titles(page))[0], 'behind the pointer 3')
    await page.close()
  })

  it('are edited and sent again, compared if any two are chosen, and found by their text in the palette', async () => {
    const other = await testHub.send('talker', 'a needle to find')
    const page = await fixture.open(`/tasks/${hello.id}`)
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello, edited')
    await page.getByRole('button', { name: 'Send and compare' }).click()
    await page.waitForURL(new RegExp(`/tasks/${hello.id}/compare/`))
    await page.getByRole('region', { name: 'Second task: talker' }).getByText('Hello, edited').waitFor()
    const edited = (await testHub.ask('GET', `/admin/tasks/${page.url().split('/').at(-1)}`)).json
    assert.deepEqual([edited.title, edited.agent], ['Hello, edited', 'talker'])

    await fixture.load(page, '/tasks')
    for (const title of ['Hello, edited', 'a needle to find'])
      await rows(page).filter({ hasText: title }).first().getByRole('checkbox').check()
    await page.getByRole('link', { name: 'Compare 2 tasks' }).click()
    await page.waitForURL(`**/tasks/${edited.id}/compare/${other.id}`)

    await testHub.key({ agents: ['*'], name: 'palette key' })
    for (const [text, name, url] of [
      ['needle to', /a needle to find/, `**/tasks/${other.id}`],
      ['palette', /palette key/, '**/settings/keys?key=*'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      await page.getByRole('option', { name }).first().click()
      await page.waitForURL(url)
    }
    await page.close()
  })

  it('reloads when too many changes occurred to report each [full]', async () => {
    const page = await fixture.open('/tasks')
    await rows(page).first().waitFor()
    await Promise.all(Array.from({ length: 130 }, (_, number) => testHub.send('talker', `a crowd ${number}`)))
    await rows(page).filter({ hasText: 'a crowd' }).first().waitFor()
    const { tasks } = (await testHub.ask('GET', '/admin/tasks?limit=10')).json
    const shown = async (): Promise<string> =>
      (
        await page
          .locator('.task-row')
          .evaluateAll((all: any[]) => all.slice(0, 10).map((row) => row.querySelector('a').dataset.row))
      ).join()
    const newest = tasks.map(({ id }: any) => id).join()
    await waitFor(async () => ((await shown()) === newest ? true : undefined), 'the newest are listed')
    await page.close()
  })

  it('fits a phone: two lines per row, the task in place of the list, no horizontal scrolling [full]', async () => {
    const page = await fixture.open('/tasks', { width: 390, height: 844 })
    await rows(page).first().waitFor()
    const wide = () => pageWidth(page)
    assert.equal(await wide(), 390)
    assert.equal(
      await rows(page)
        .first()
        .evaluate((row: any) => row.offsetHeight),
      60,
    )
    await rows(page).first().click()
    await page.locator('.task-detail').waitFor()
    assert.equal(await rows(page).first().isVisible(), false)
    assert.equal(await wide(), 390)
    await page.getByRole('link', { name: 'Close' }).click()
    await rows(page).first().waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`has nothing that axe finds serious, in ${theme} colours [full]`, async () => {
      const page = await fixture.open(`/tasks/${failed.id}?agent=talker`, { theme })
      await page.locator('.task-detail').waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      await page.getByRole('search').getByRole('button', { name: 'State' }).click()
      assert.deepEqual(await seriousViolations(page), [])
      await page.close()
    })
  }

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
