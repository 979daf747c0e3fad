/** The manifests and types that users compile against: what publint and are-the-types-wrong report, and strict compilations. */
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { archiveOf, entryPointsOf, extract, root, run, type Installation } from './install.ts'
import { installation } from './installation.ts'

const names = ['@parley/a2a', '@parley/cli', '@parley/hub', 'create-parley']

/** The profile `esm-only` of the command `attw`: these ways to resolve an import never find an ES module. */
const ignoredResolutions = ['node10', 'node16-cjs']

const grpcEntryPoint = '@parley/a2a/grpc'
/** The peer dependency of that entry point, with what its own types import. */
const grpcTypes = [
  '@bufbuild/protobuf',
  '@grpc/grpc-js',
  '@grpc/proto-loader',
  '@js-sdsl/ordered-map',
  'protobufjs',
  'long',
]

describe('the published types', () => {
  let packed: Installation
  before(async () => {
    packed = await installation()
  })

  for (const name of names) {
    it(`${name} has no problem that publint reports`, async () => {
      const pkgDir = join(packed.scratch, 'node_modules', name)
      const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true })
      assert.deepEqual(
        messages.map((message) => formatMessage(message, pkg, { color: false })),
        [],
      )
    })

    it(`${name} has no problem that are-the-types-wrong reports for ES modules`, async () => {
      const result = await checkPackage(createPackageFromTarballData(await readFile(archiveOf(packed, name))))
      assert.ok('problems' in result, `${name} has no types`)
      const problems = result.problems.filter(
        (problem) => !('resolutionKind' in problem && ignoredResolutions.includes(problem.resolutionKind)),
      )
      assert.deepEqual(problems, [])
    })
  }

  it('of @parley/a2a compile without skipLibCheck; only those of gRPC need the library of gRPC', async (t) => {
    const folder = await newProject(t)
    await extract(archiveOf(packed, '@parley/a2a'), join(folder, 'node_modules/@parley/a2a'))
    await install(folder, ['jose', 'ipaddr.js', '@types/node', 'undici-types'])
    const entryPoints = entryPointsOf(packed, '@parley/a2a')
    assert.ok(entryPoints.includes(grpcEntryPoint))
    await compile(
      folder,
      entryPoints.filter((entryPoint) => entryPoint !== grpcEntryPoint),
    )
    await install(folder, grpcTypes)
    await compile(folder, [grpcEntryPoint])
  })

  it('of the others compile without skipLibCheck', async () => {
    await compile(packed.scratch, ['@parley/cli', '@parley/cli/conformance', '@parley/hub', 'create-parley'])
  })
})

/** Outside the repository, so that only what is installed is found. */
async function newProject(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-types-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

async function install(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, 'node_modules'), { recursive: true })
    await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
}

async function compile(folder: string, entryPoints: readonly string[]): Promise<void> {
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', target: 'es2024' }
  const config = { compilerOptions: { ...compilerOptions, types: ['node'] }, files: ['main.ts'] }
  const lines = entryPoints.map((entryPoint, index) => `export type * as module${index} from '${entryPoint}'\n`)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'main.ts'), lines.join(''))
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
    (failure: { readonly stdout: string }) => failure,
  )
  assert.equal(stdout, '')
}
