import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runCreate } from './run-create.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly engines: Readonly<Record<string, string>>
}

const projectFiles = [
  '.gitignore',
  'README.md',
  'agent.test.ts',
  'agent.ts',
  'package.json',
  'parley.yaml',
  'tsconfig.json',
]

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-create-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

async function create(cwd: string, ...args: string[]) {
  const printed: string[] = []
  const errors: string[] = []
  const code = await runCreate(args, {
    cwd,
    print: (line) => void printed.push(line),
    printError: (line) => void errors.push(line),
  })
  return { code, printed, errors }
}

const manifestAt = (path: string): Manifest =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Manifest

describe('npm create parley', () => {
  it('writes a project into a new folder and prints the next commands', async (t) => {
    const cwd = await newFolder(t)
    const { code, printed, errors } = await create(cwd, 'my-bot')
    assert.deepEqual([code, errors], [0, []])
    assert.deepEqual((await readdir(join(cwd, 'my-bot'))).sort(), projectFiles)
    assert.deepEqual(printed, [
      `Created my-bot: ${projectFiles.join(', ')}`,
      '',
      'Next:',
      '  cd my-bot',
      '  npm install',
      '  npm start',
      '',
      'README.md shows how to send the first message.',
    ])
  })

  it('names the project after its folder, as npm allows it', async (t) => {
    const cwd = await newFolder(t)
    for (const [folder, name] of [
      ['My Agent!', 'my-agent'],
      ['.hidden', 'hidden'],
      ['агент', 'my-agent'],
    ] as const) {
      assert.equal((await create(cwd, folder)).code, 0)
      const { name: found } = JSON.parse(await readFile(join(cwd, folder, 'package.json'), 'utf8')) as Manifest
      assert.equal(found, name)
      assert.match(await readFile(join(cwd, folder, 'README.md'), 'utf8'), new RegExp(`^# ${name}\n`))
    }
    assert.deepEqual((await create(cwd, 'two words')).printed[3], '  cd "two words"')
  })

  it('uses the current folder by default, also if it exists and has other files', async (t) => {
    const cwd = await newFolder(t)
    await mkdir(join(cwd, '.git'))
    const { code, printed } = await create(cwd)
    assert.equal(code, 0)
    assert.ok(!printed.some((line) => line.includes('cd ')), printed.join('\n'))
    assert.deepEqual((await readdir(cwd)).sort(), ['.git', ...projectFiles])
  })

  it('overwrites nothing: it names the files that exist, links included, and writes no other', async (t) => {
    const cwd = await newFolder(t)
    await writeFile(join(cwd, 'agent.ts'), 'mine')
    await symlink('nowhere', join(cwd, 'README.md'))
    const { code, errors } = await create(cwd)
    assert.equal(code, 1)
    assert.match(errors.join('\n'), /already has README\.md, agent\.ts\. Nothing was written\./)
    assert.deepEqual((await readdir(cwd)).sort(), ['README.md', 'agent.ts'])
    assert.equal(await readFile(join(cwd, 'agent.ts'), 'utf8'), 'mine')
  })

  it('reports a file in the place of the folder, and unexpected arguments, in one line', async (t) => {
    const cwd = await newFolder(t)
    await writeFile(join(cwd, 'taken'), '')
    assert.deepEqual(await create(cwd, 'taken'), {
      code: 1,
      printed: [],
      errors: [`Cannot create ${join(cwd, 'taken')}: a file is in the way. Choose another folder.`],
    })
    for (const args of [['one', 'two'], ['--force'], ['one', '--force']]) {
      const { code, errors } = await create(cwd, ...args)
      assert.equal(code, 2)
      assert.equal(errors.length, 1)
    }
    assert.deepEqual(await readdir(cwd), ['taken'])
  })

  it('shows its help and its version', async (t) => {
    const cwd = await newFolder(t)
    assert.match((await create(cwd, '--help')).printed.join('\n'), /^npm create parley \[folder\]/)
    assert.deepEqual((await create(cwd, '--version')).printed, [manifestAt('../package.json').version])
  })
})

describe('the template', () => {
  it('has the versions of the packages that it is released with', async (t) => {
    const cwd = await newFolder(t)
    await create(cwd)
    const project = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')) as Manifest
    for (const [name, version] of Object.entries(project.dependencies)) {
      assert.equal(version, manifestAt(`../../${name.replace('@parley/', '')}/package.json`).version, name)
    }
    const { devDependencies } = manifestAt('../../../package.json')
    for (const [name, version] of Object.entries(project.devDependencies)) assert.equal(version, devDependencies[name])
    assert.deepEqual(project.engines, manifestAt('../../hub/package.json').engines)
    assert.deepEqual(project.engines, manifestAt('../package.json').engines)
  })
})
