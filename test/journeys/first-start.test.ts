/** An operator: starts a hub in an empty folder, administers it from a second terminal, restarts it, and signs in again. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { browserSkipReason, isSignedIn, openConsole, openPage, signInLink } from './browser.ts'
import { describeJourney } from './journey.ts'
import type { Terminal } from './terminal.ts'

describeJourney(
  'the first start',
  (step) => {
    let [first, second] = [] as Terminal[] as [Terminal, Terminal]
    let folder = ''
    let keyFile = ''
    let key = ''

    step('prints a link that opens the console, signed in, and writes the admin key to a file', async (machine) => {
      folder = await machine.folder('hub')
      first = await machine.terminal(folder)
      const screen = await first.start('parley up', /Stop with Ctrl-C/)
      for (const agent of ['echo', 'clock', 'concierge', 'rehearsal'])
        assert.match(screen, new RegExp(`/a2a/${agent}\\b`))
      keyFile = join(folder, '.parley/parley.admin-key')
      assert.equal(statSync(keyFile).mode & 0o777, 0o600)
      assert.equal(statSync(join(folder, '.parley')).mode & 0o777, 0o700)
      key = readFileSync(keyFile, 'utf8').trim()
      assert.ok(!screen.includes(key), 'a screen is read by others')
      const page = await openConsole(screen)
      assert.ok(!page.url().includes('#'), page.url())
      const other = await openPage(signInLink(screen))
      await other.getByRole('alert').getByText('was used').waitFor()
    })

    step('is followed by the commands of a second terminal', async (machine) => {
      second = await machine.terminal(folder)
      assert.match(await second.run(`a2a send -a 127.0.0.1:${machine.port}/a2a/echo "Good morning"`), /Good morning/)
      assert.match(await second.run('parley status'), /^Agents +(\d) of \1 up$/m)
      await second.run('parley logs')
      assert.match(await second.run('parley key create --agent echo --name ci > ci-key; parley key list'), /\bci\b/)
      assert.match(await second.run('parley session list'), /admin/)
      assert.match(await second.run('parley audit export'), /"session\.opened"/)
    })

    step('tells how to sign in, with a file that exists', async (machine) => {
      const page = await openPage(machine.url)
      await page.getByText('parley open').waitFor()
      await page.getByText(keyFile).waitFor()
      await page.getByLabel('Admin key').fill(key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await isSignedIn(page)
    })

    step('tells a second terminal without the key that the hub runs', async () => {
      await rm(keyFile)
      assert.match(await second.run('parley agent list', 4), /The hub runs at/)
      await writeFile(keyFile, key, { mode: 0o600 })
      assert.match(await second.run('parley agent list'), /^echo +demo +up/m)
    })

    step('opens the browser, signed in, after a restart too', async (machine) => {
      await first.interrupt()
      assert.match(await first.start('parley up', /Stop with Ctrl-C/), /The link signs you in once/)
      // The browser of the desktop: a program that gets the address.
      await machine.folder('hub', { 'browser.sh': '#!/bin/sh\nprintf %s "$1" > opened\n' })
      await chmod(join(folder, 'browser.sh'), 0o755)
      assert.match(await second.run('BROWSER=./browser.sh parley open'), /^Opened /)
      const opened = readFileSync(join(folder, 'opened'), 'utf8')
      assert.ok(!opened.includes(key), 'arguments of a program are visible to other users')
      await openConsole(opened)
      assert.match(await second.run(`a2a task list -a 127.0.0.1:${machine.port}/a2a/echo`), /COMPLETED/)
    })

    step('ends with its terminal', async () => {
      await first[Symbol.asyncDispose]()
      await second.runUntil('parley status || true', /No hub responds/)
    })
  },
  { skip: browserSkipReason },
)
