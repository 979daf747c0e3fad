/** Settings, configuration: edited with completion, compared before it is applied, applied with a note, and restored. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { adminKey, asAdmin, waitFor } from '../admin/test-hub.ts'
import { isFocused } from './page-queries.ts'
import { builtConsole } from './built-console.ts'
import { maxWaitMs, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const filler = Array.from({ length: 60 }, (_, index) => `# Line ${index} of what was thought of it.`).join('\n')
const configText = `# The hub of a test.
listen: { port: 0, grpcPort: false }
admin:
  key: ${adminKey} # not for everybody
agents:
  # Repeats the message.
  echo: { kind: demo, agent: echo, default: true }
  gpt:
    kind: openai
    baseUrl: https://api.example.com/v1
    model: some-model
    apiKey: sk-a-secret-of-ours
${filler}
`

const field = (page: Page) => page.getByLabel('Configuration', { exact: true })
const shown = (page: Page): Promise<string> => field(page).inputValue()
const review = (page: Page) => page.getByRole('button', { name: 'Review changes' })
const edit = async (page: Page, change: (from: string) => string): Promise<void> =>
  field(page).fill(change(await shown(page)))

describeInBrowser('the configuration', async (browser) => {
  const fixture = await openConsole(browser, { text: configText })
  const { testHub } = fixture
  const open = async (path = '/settings/config', look = {}): Promise<Page> => {
    const page = await fixture.open(path, look)
    await field(page)
      .or(page.getByRole('heading', { name: 'Versions' }))
      .first()
      .waitFor()
    return page
  }
  /** By another user. */
  const apply = async (change: (from: string) => string, note: string): Promise<void> => {
    const { json } = await testHub.ask('GET', '/admin/config')
    const { status } = await testHub.ask('PUT', '/admin/config', { text: change(json.text), note })
    assert.equal(status, 200)
  }

  it('is shown as written, with its comments and without its secrets', async () => {
    const page = await open()
    const held = await shown(page)
    assert.match(held, /^# The hub of a test\./)
    assert.match(held, /apiKey: "\(not shown\)"/)
    assert.doesNotMatch(await page.content(), /sk-a-secret|the admin key of a test/)
    await page.getByText(testHub.file).waitFor()
    assert.equal(await review(page).isDisabled(), true)
    assert.equal(await page.title(), 'Config · Settings · Parley')
    await page.close()
  })

  it('is checked while the user types, and links to each error', async () => {
    const page = await open()
    await edit(page, (from) => `${from.replace('agent: echo', 'agent: unknown')}colour: red\n`)
    await page.getByText('2 errors').waitFor()
    assert.equal(await review(page).isDisabled(), true)
    const problem = page.getByRole('button', { name: /Line 7 agents\.echo\.agent/ })
    await problem.waitFor()
    await page.getByRole('button', { name: /Line 73 colour/ }).click()
    await page.getByText('Line 73, column 1').waitFor()
    const selected = (): Promise<string> =>
      field(page).evaluate((element: any) => element.value.slice(element.selectionStart, element.selectionEnd))
    assert.equal(await selected(), 'colour: red')
    assert.ok((await field(page).evaluate((element) => element.scrollTop)) > 0)
    await problem.focus()
    await page.keyboard.press('Enter')
    assert.match(await selected(), /agent: unknown/)
    assert.deepEqual(await seriousViolations(page), [])
    await edit(page, (from) => from.replace('agent: unknown', 'agent: echo').replace('colour: red\n', '# fine\n'))
    await page.getByText('Valid, not applied yet').waitFor()
    assert.equal(await review(page).isDisabled(), false)
    await page.close()
  })

  it('colours the text, explains the key at the cursor and under the pointer, and marks problems at their line', async () => {
    const page = await open()
    await page.locator('.editor .code-key', { hasText: /^listen$/ }).waitFor()
    await page.locator('.editor .code-comment', { hasText: 'The hub of a test.' }).waitFor()
    const key = page.locator('.editor .code-key', { hasText: /^model$/ })
    const { x = 0, y = 0 } = (await key.boundingBox()) ?? {}
    await page.mouse.move(x + 4, y + 8)
    await page.getByRole('tooltip').getByText('The model that answers.').waitFor()
    await page.mouse.click(x + 4, y + 8)
    const hint = page.locator('.editor-hint-bar')
    await hint.getByText('agents.gpt.model').waitFor()
    assert.match(await hint.innerText(), /string · required — The model that answers\./)
    await edit(page, (from) => from.replace('agent: echo,', 'agent: other,'))
    await page.locator('.editor-problem', { hasText: 'must be echo, clock, concierge or rehearsal' }).waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.close({ runBeforeUnload: false })
  })

  it('has the keys of an editor: indentation, new lines, undo, and a way to leave it by keyboard', async () => {
    const page = await open()
    await field(page).focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('limits:')
    await page.keyboard.press('Enter')
    await page.keyboard.type('perKey: 5/s')
    assert.match(await shown(page), /\nlimits:\n {2}perKey: 5\/s$/)
    await page.keyboard.press('Home')
    await page.keyboard.press('Tab')
    assert.match(await shown(page), /\n {4}perKey: 5\/s$/)
    await page.keyboard.press('Shift+Tab')
    assert.match(await shown(page), /\n {2}perKey: 5\/s$/)
    await page.keyboard.press('Control+z')
    assert.match(await shown(page), /\n {4}perKey: 5\/s$/)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    assert.equal(await isFocused(field(page)), false)
    await page.close({ runBeforeUnload: false })
  })

  it('offers the keys and values of the schema', async () => {
    const page = await open()
    await field(page).focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('lim')
    await page.keyboard.press('Control+Space')
    const offers = page.getByRole('listbox', { name: 'Completions' })
    await offers.getByRole('option', { name: /^limits/ }).waitFor()
    await page.keyboard.press('Enter')
    assert.match(await shown(page), /\nlimits:\n {2}$/)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('agents:\n')
    await page.keyboard.type('a:\nkind: ')
    await page.keyboard.press('Control+Space')
    await offers.getByRole('option', { name: 'openai' }).waitFor()
    await page.keyboard.type('dem')
    await offers.getByRole('option', { name: 'openai' }).waitFor({ state: 'detached' })
    await offers.getByRole('option', { name: 'demo' }).click()
    assert.equal(await shown(page), 'agents:\n  a:\n    kind: demo')
    await page.close({ runBeforeUnload: false })
  })

  it('is searched, match by match, by an address', async () => {
    const page = await open()
    await field(page).focus()
    await page.keyboard.press('Control+f')
    await page.keyboard.type('thought')
    await page.getByText('1 of 60').waitFor()
    await page.waitForURL('**/settings/config?find=thought')
    await page.keyboard.press('Shift+Enter')
    await page.getByText('60 of 60').waitFor()
    assert.ok((await field(page).evaluate((element) => element.scrollTop)) > 100)
    await page.reload()
    await page.getByText('1 of 60').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('Find in the text').press('Escape')
    await page.waitForURL('**/settings/config')
    await page.close()
  })

  it('has a form for the entry of an agent, and its text beside it: both edit one draft', async () => {
    await apply((from) => from.replace('model: some-model', 'model: some-model # the best'), 'a comment')
    const page = await fixture.open('/agents/gpt/settings')
    await page.getByLabel('model required').fill('another-model')
    // A stored secret is neither shown nor lost.
    const secret = page.getByLabel('apiKey', { exact: true })
    assert.equal(await secret.getAttribute('placeholder'), 'Unchanged (hidden)')
    await page.getByText('More settings').click()
    await page.getByLabel('retryWait', { exact: true }).fill('2')
    await page.getByLabel('Unit of retryWait').selectOption('minutes')
    await page.getByRole('checkbox', { name: 'audio' }).uncheck()
    const options = page.getByRole('group', { name: 'options' })
    await options.getByLabel('Name').fill('temperature')
    await options.getByLabel('Name').press('Enter')
    await options.getByLabel('Value of temperature').fill('0.5')
    await page.getByText('Valid, not applied yet').waitFor()
    await page.getByRole('button', { name: 'YAML' }).click()
    const text = page.getByLabel('Settings as text')
    const written = await waitFor(async () => {
      const held = await text.inputValue()
      return held.includes('temperature: 0.5') ? held : undefined
    }, 'the text has what the form changed')
    assert.match(written, /^kind: openai\n[^]*\nmodel: another-model # the best\n[^]*retryWait: 2m\n/)
    await text.fill(written.replace('retryWait: 2m', 'retryWait: soon'))
    await page.getByRole('list', { name: 'Issues' }).getByText('retryWait').waitFor()
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    // A value without a unit is edited as text, with its problem beside it.
    const wait = page.getByLabel('retryWait', { exact: true })
    assert.equal(await wait.inputValue(), 'soon')
    assert.equal(await wait.getAttribute('aria-invalid'), 'true')
    assert.equal(await page.getByRole('button', { name: 'Review changes' }).isDisabled(), true)
    assert.deepEqual(await seriousViolations(page), [])
    await wait.fill('90s')
    await page.getByText('Valid, not applied yet').waitFor()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByRole('region', { name: 'Effects' }).getByText('gpt').waitFor()
    await page.getByRole('region', { name: 'Changed lines' }).getByText('retryWait: 90s').waitFor()
    await page.getByLabel(/^Note/).fill('another model')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No unsaved changes').waitFor()
    const file = readFileSync(testHub.file, 'utf8')
    assert.match(file, /model: another-model # the best\n {4}apiKey: sk-a-secret-of-ours\n/)
    assert.match(file, /inputs:\n {6}- image\n {6}- file\n/)
    assert.equal((await testHub.ask('PUT', '/admin/config', { text: configText })).status, 200)
    await page.close({ runBeforeUnload: false })
  })

  it('is compared before it is applied, in lines and in effects, and then takes effect', async () => {
    const page = await open()
    await edit(page, (from) =>
      from
        .replace('port: 0', 'port: 1')
        .replace('model: some-model', 'model: a-better-model')
        .replace('  gpt:', '  timer: { kind: demo, agent: clock }\n  gpt:'),
    )
    await review(page).click()
    await page.waitForURL('**/settings/config/review')
    await page.getByText('3 lines added').waitFor()
    const effects = page.getByRole('region', { name: 'Effects' }).getByRole('listitem')
    assert.deepEqual(
      (await effects.allTextContents()).map((line) => line.split(':')[0]),
      ['+addedtimer', '◐changedgpt', '◇restartlisten'],
    )
    const changes = page.getByRole('region', { name: 'Changed lines' })
    await changes.getByRole('columnheader', { name: 'Proposed' }).waitFor()
    await changes
      .getByRole('button', { name: /unchanged lines/ })
      .first()
      .waitFor()
    await changes.locator('.diff-part', { hasText: 'a-better' }).waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    // Nothing has taken effect yet.
    assert.equal(readFileSync(testHub.file, 'utf8'), configText)
    await page.getByLabel(/^Note/).fill('a better model')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/settings/config')
    const applied = page.getByRole('region', { name: 'Applied' })
    await applied.getByText('listen').waitFor()
    const written = readFileSync(testHub.file, 'utf8')
    assert.match(written, /model: a-better-model\n {4}apiKey: sk-a-secret-of-ours/)
    assert.equal((await testHub.ask('GET', '/admin/agents/timer')).status, 200)
    assert.match(await shown(page), /a-better-model/)
    assert.equal(await review(page).isDisabled(), true)
    await applied.getByRole('button', { name: 'Dismiss' }).click()
    await applied.waitFor({ state: 'detached' })
    await page.close()
  })

  it('shows both sides below each other on a narrow screen', async () => {
    const page = await open('/settings/config', { width: 390 })
    await edit(page, (from) => from.replace('# The hub of a test.', '# The hub of a phone.'))
    await review(page).click()
    const changes = page.getByRole('region', { name: 'Changed lines' })
    await changes.getByText('# The hub of a phone.').waitFor()
    assert.equal(await changes.getByRole('columnheader', { name: 'Proposed' }).count(), 0)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    assert.deepEqual(await seriousViolations(page), [])
    await page.close({ runBeforeUnload: false })
  })

  it('is updated by the change feed when another user changes it', async () => {
    const page = await open()
    await apply((from) => from.replace('# The hub of a test.', '# The hub of all tests.'), 'of all')
    const isNew = async (): Promise<boolean> => (await shown(page)).startsWith('# The hub of all tests.')
    await waitFor(async () => ((await isNew()) ? true : undefined), 'the new text is shown')
    await page.close()
  })

  it('keeps the draft when another user applied first, and lets the user compare and choose', async () => {
    const page = await open()
    await edit(page, (from) => `${from}# mine\n`)
    await apply((from) => from.replace('# The hub of all tests.', '# The hub of theirs.'), 'theirs was first')
    const conflict = page.getByRole('region', { name: 'Edit conflict' })
    await conflict.getByText(/The configuration changed while you were editing.*admin.*“theirs was first”/).waitFor()
    assert.match(await shown(page), /# mine\n$/)
    await conflict.getByRole('button', { name: 'Show their changes' }).click()
    await page.waitForURL('**/settings/config?theirs=1')
    const theirs = conflict.getByRole('region', { name: 'Their changes' })
    await theirs.getByText('# The hub of theirs.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await conflict.getByRole('button', { name: 'Keep my version' }).click()
    await conflict.waitFor({ state: 'detached' })
    await page.getByText('Valid, not applied yet').waitFor()
    await review(page).click()
    // Applying over their change reverts it, with a warning.
    await page.getByRole('region', { name: 'Changed lines' }).getByText('# The hub of theirs.').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('region', { name: 'Applied' }).waitFor()
    assert.match(readFileSync(testHub.file, 'utf8'), /^# The hub of all tests\.[^]*# mine\n$/)
    await page.close()
  })

  it('is not overwritten when only the hub knows of the other change', async () => {
    // Without the stream of changes, as if it were cut at that moment; the refusal is in the browser's own log.
    const page = await fixture.context.newPage()
    await page.route('**/admin/events', (route) => route.abort())
    await page.goto(`${testHub.url}/settings/config`)
    await field(page).waitFor()
    await edit(page, (from) => `${from}# also mine\n`)
    await review(page).click()
    await page.getByRole('button', { name: 'Apply' }).waitFor()
    await apply((from) => `${from}# sooner\n`, 'sooner')
    await page.getByRole('button', { name: 'Apply' }).click()
    const conflict = page.getByRole('region', { name: 'Edit conflict' })
    await conflict.getByText(/“sooner”/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Apply' }).isDisabled(), true)
    assert.match(readFileSync(testHub.file, 'utf8'), /# sooner\n$/)
    await conflict.getByRole('button', { name: 'Use their version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use their version' }).click()
    await page.getByText('Nothing to review').waitFor()
    await page.close()
  })

  it('keeps the draft on other pages, and warns before it is lost', async () => {
    const page = await open()
    await field(page).focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('# not yet applied')
    await page.getByRole('link', { name: 'Config (edited)' }).waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tasks' }).click()
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    await page.goBack()
    assert.match(await shown(page), /# not yet applied$/)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.dismiss()
    })
    await page.close({ runBeforeUnload: true })
    await page.waitForEvent('dialog').catch(() => {})
    assert.deepEqual(asked, ['beforeunload'])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page
      .getByRole('dialog', { name: 'Sign out?' })
      .getByText(/are lost when you sign out/)
      .waitFor()
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByText('No unsaved changes').waitFor()
    assert.doesNotMatch(await shown(page), /# not yet applied/)
    await page.close()
  })

  it('has versions: who, when and why, as text and compared with the current one, and restores one', async () => {
    writeFileSync(testHub.file, `${readFileSync(testHub.file, 'utf8')}# by hand\n`)
    await apply((from) => `${from}# the last\n`, 'the last one')
    const page = await open('/settings/config/versions')
    const rows = page.getByRole('list', { name: 'Versions' }).getByRole('link')
    await rows.first().getByText('current').waitFor()
    assert.match((await rows.first().textContent()) ?? '', /the last one.*admin/)
    assert.match((await rows.nth(1).textContent()) ?? '', /Edited in the file.*edited in the file/)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.waitForURL(/\/settings\/config\/versions\/[0-9a-f-]+$/)
    const changes = page.getByRole('region', { name: 'From current to this version' })
    await changes.getByText('# the last').waitFor()
    await page.getByRole('region', { name: 'Effects of restoring' }).getByText('listen').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByRole('link', { name: 'Text', exact: true }).click()
    await page.reload()
    const whole = page.getByLabel('Text of the version')
    assert.match(await whole.inputValue(), /# by hand\n$/)
    assert.doesNotMatch(await whole.inputValue(), /sk-a-secret/)
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await rows
      .first()
      .getByText(/^Restored version of/)
      .waitFor()
    assert.match(readFileSync(testHub.file, 'utf8'), /# by hand\n$/)
    assert.match(readFileSync(testHub.file, 'utf8'), /sk-a-secret-of-ours/)
    await page.keyboard.press('Escape')
    await page.waitForURL('**/settings/config/versions')
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible, ${theme} and narrow`, async () => {
      for (const width of [1280, 390]) {
        for (const path of ['/settings/config', '/settings/config/versions']) {
          const page = await open(path, { theme, width })
          assert.deepEqual(await seriousViolations(page), [])
          assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
          await page.close()
        }
      }
    })
  }

  it('is explained if the hub has no file', async () => {
    const { startHub } = await import('../../packages/hub/src/hub.ts')
    const { checkConfig } = await import('../../packages/hub/src/config/check-config.ts')
    const { agentKinds } = await import('../../packages/hub/src/agents/kinds.ts')
    const tree = {
      listen: { port: 0, grpcPort: false },
      store: 'memory:',
      admin: { key: adminKey },
      agents: { echo: { kind: 'demo', agent: 'echo' } },
    }
    const checked = checkConfig(tree, { kinds: agentKinds, baseDir: '.' })
    assert.ok('config' in checked)
    const quiet = { debug() {}, info() {}, warn() {}, error() {} }
    const hub = await startHub(checked.config, { log: quiet, consoleFolder: await builtConsole() })
    const context = await browser.newContext()
    context.setDefaultTimeout(maxWaitMs)
    await context.request.post(`${hub.url}/admin/session`, { headers: asAdmin })
    const page = await context.newPage()
    await page.goto(`${hub.url}/settings/config`)
    await page.getByRole('heading', { name: 'This hub has no configuration file' }).waitFor()
    await page.getByText('parley up --config parley.yaml').waitFor()
    await context.close()
    await hub.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
