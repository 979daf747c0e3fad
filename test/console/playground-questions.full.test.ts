/** What agents ask for: text, forms, secrets, credentials, results of tools. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { seriousViolations } from './open-console.ts'
import {
  composer,
  waitForClipboard,
  isFocused,
  hasHorizontalScroll,
  openPlayground,
  sendText,
  taskIdOf,
  waitForTaskEnd,
} from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('a question of an agent', async (browser) => {
  const fixture = await openPlayground(browser)
  const form = (page: Page) => page.getByRole('form', { name: 'Answer clerk' })
  const detail = async (page: Page) => (await fixture.testHub.ask('GET', `/admin/tasks/${taskIdOf(page)}`)).json
  const ask = async (what: string, query = '') => {
    const page = await fixture.open(`/playground/clerk${query}`)
    await sendText(page, what)
    await page.locator('.talk-asked').waitFor()
    return page
  }

  it('in plain text is answered in the message box', async () => {
    const page = await ask('words')
    assert.equal(await composer(page).getAttribute('aria-label'), 'Answer clerk')
    await sendText(page, 'Rome')
    await waitForTaskEnd(page)
    assert.deepEqual((await detail(page)).task.artifacts[0].parts[0].data.came, [{ text: 'Rome' }])
    assert.equal(await page.locator('.chat-task').count(), 1)
    await page.close()
  })

  it('is answered while its log is still loading', async () => {
    const page = await fixture.open('/playground/clerk?stream=0')
    // Never answered.
    await page.route('**/admin/tasks/*', () => {})
    await sendText(page, 'words')
    await page.locator('.talk-asked').waitFor()
    await sendText(page, 'Rome')
    await waitForTaskEnd(page)
    await page.close()
  })

  it('with a schema is a form: prefilled, validated, and sent as data and as text', async () => {
    const page = await ask('form')
    assert.equal(await isFocused(page.getByLabel('City')), true)
    assert.equal(await page.getByLabel('People').inputValue(), '2')
    await page.getByText('Where to').waitFor()
    assert.equal(await page.locator('.talk-asked .talk-bubble').innerText(), 'A table for whom?')
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('People').fill('12')
    await form(page).getByRole('button', { name: 'Send' }).click()
    await page.getByText('Required.').waitFor()
    await page.getByText('Must be at most 8.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('City').fill('Rome')
    await page.getByLabel('People').fill('3')
    await page.getByLabel('Table').selectOption('outside')
    await page.getByLabel('wine').check()
    await page.getByLabel('Smoking').check()
    await page.getByLabel('City').press('Enter')
    await waitForTaskEnd(page)
    const answer = { city: 'Rome', people: 3, table: 'outside', extras: ['wine'], smoking: true }
    const [words, data] = (await detail(page)).task.artifacts[0].parts[0].data.came
    assert.deepEqual(data.data, answer)
    assert.match(words.text, /^city: Rome\npeople: 3\n/)
    await page.close()
  })

  it('of another caller shows its fields, read-only, and the name of the caller who can answer', async () => {
    const proof = await fixture.testHub.key({ name: 'Night build', agents: ['*'] })
    const { id } = await fixture.testHub.send('clerk', 'form', proof)
    const { json } = await fixture.testHub.ask('GET', '/admin/tasks?limit=1')
    assert.equal(json.tasks[0].callerName, 'Night build')
    for (const path of [`/tasks/${id}`, `/playground/clerk?task=${id}`]) {
      const page = await fixture.open(path)
      const question = page.getByRole('region', { name: 'clerk waits for Night build' })
      await question.getByText('Only Night build can answer').waitFor()
      assert.equal(await question.getByLabel('City').isDisabled(), true)
      assert.equal(await question.getByLabel('People').inputValue(), '2')
      assert.equal(await question.getByRole('button').count(), 0)
      assert.deepEqual(await seriousViolations(page), [])
      await page.close()
    }
    const page = await fixture.open('/tasks')
    await page.locator('.task-row-caller').getByText('Night build').first().waitFor()
    await page.close()
  })

  it('of their own task is answered in the playground', async () => {
    const page = await ask('form')
    const id = taskIdOf(page)
    await page.goto(`${fixture.testHub.url}/tasks/${id}`)
    await page.getByRole('link', { name: 'Answer in the playground' }).click()
    await form(page).waitFor()
    await page.close()
  })

  it('with a schema may be answered in plain text', async () => {
    const page = await ask('form')
    await page.getByRole('button', { name: 'Answer in text instead' }).click()
    await sendText(page, 'Oslo, for two')
    await waitForTaskEnd(page)
    assert.deepEqual((await detail(page)).task.artifacts[0].parts[0].data.came, [{ text: 'Oslo, for two' }])
    await page.close()
  })

  it('survives a reload', async () => {
    const page = await ask('form')
    await page.reload()
    await page.getByLabel('City').fill('Rome')
    await form(page).getByRole('button', { name: 'Send' }).click()
    await waitForTaskEnd(page)
    await page.close()
  })

  for (const [what, query] of [
    ['secret', '?protocol=1'],
    ['secret', '?protocol=1&version=0.3&binding=HTTP%2BJSON'],
    ['secret form', '?protocol=1'],
    ['auth here', '?protocol=1'],
  ] as const) {
    it(`for a secret (${what}${query}) is masked, reaches the agent, and is stored nowhere`, async () => {
      const secret = 'pa55word-of-mine'
      const page = await ask(what, query)
      const field = page.locator('.question input[type=password]')
      assert.equal(await field.count(), 1)
      assert.equal(await page.locator('.composer').count(), 0)
      assert.equal(await page.getByRole('button', { name: 'Answer in text instead' }).count(), 0)
      if (what === 'secret form') await page.getByLabel('User').fill('ann')
      if (what === 'auth here') await page.getByLabel('Sign-in method').selectOption('github')
      await field.fill(secret)
      await page.getByText('It is not stored and not shown again.').waitFor()
      await field.press('Enter')
      await waitForTaskEnd(page)
      assert.match(await page.locator('.talk-made').innerText(), /You gave me \d+ letters/)
      // All frames are expanded, so that all their content is on the page.
      for (const row of await page.locator('.protocol-row.request .protocol-open').all()) await row.click()
      const seen: Record<string, string> = await page.evaluate(`({
        page: document.documentElement.outerHTML,
        fields: [...document.querySelectorAll('input')].map(({ value }) => value).join(),
        stored: JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
        address: location.href,
        history: JSON.stringify(history.state),
      })`)
      for (const [where, text] of Object.entries(seen)) assert.ok(!text.includes(secret), where)
      assert.match(seen['page'] ?? '', /\(not shown\)/)
      assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0)
      await page.getByRole('button', { name: 'Copy all frames' }).click()
      assert.ok(!(await waitForClipboard(page, 'GET ')).includes(secret))
      await page.reload()
      await page.getByText('A secret, which is not stored.').waitFor()
      const logged = await fixture.testHub.ask('GET', `/admin/tasks/${taskIdOf(page)}/events`)
      assert.ok(!JSON.stringify(logged.json).includes(secret))
      await page.close()
    })
  }

  it('for the result of a tool shows the call, and accepts JSON', async () => {
    const page = await ask('tool')
    await form(page).getByText('position', { exact: true }).waitFor()
    const field = page.getByLabel('Result of position, as JSON')
    await field.fill('{ "city": ')
    await form(page).getByRole('button', { name: 'Send' }).click()
    await page.getByText('Not valid JSON.').waitFor()
    await field.fill('{ "city": "Lisbon" }')
    await form(page).getByRole('button', { name: 'Send' }).click()
    await waitForTaskEnd(page)
    const [came] = (await detail(page)).task.artifacts[0].parts[0].data.came
    assert.deepEqual(came.data, { toolUseId: 'u-1', result: { city: 'Lisbon' } })
    await page.close()
  })

  it('for out-of-band credentials explains what is needed, where, and what happens next', async () => {
    const page = await ask('auth')
    const note = page.locator('.auth-note')
    await note.getByRole('heading', { name: 'clerk requires authentication' }).waitFor()
    const text = await note.innerText()
    assert.match(text, /github: HTTP bearer · A token of yours/)
    assert.match(text, /login: OAuth 2/)
    assert.match(text, /Sign in using the link above\. The task resumes automatically/)
    const links = await note.getByRole('link').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    assert.deepEqual(links, ['https://id.example.com/authorize', 'https://id.example.com/start'])
    assert.deepEqual(await seriousViolations(page), [])
    await sendText(page, 'I have signed in')
    await waitForTaskEnd(page)
    await page.close()
  })

  it('fits a phone, also in dark colours', async () => {
    const page = await fixture.open('/playground/clerk', { width: 390, height: 844, theme: 'dark' })
    await sendText(page, 'form')
    await page.getByLabel('City').waitFor()
    assert.equal(await hasHorizontalScroll(page), false)
    assert.deepEqual(await seriousViolations(page), [])
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
