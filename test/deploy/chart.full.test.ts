/**
 * The Helm chart: every object that it renders is valid, pods meet the restricted profile, secrets are references, and a pod has time to end. The
 * renderings are in golden/, so that this needs no helm; where there is one, it must render the same.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { findHelm } from '../../scripts/helm.ts'
import {
  chartArguments,
  chartFolder,
  chartHash,
  chartModes,
  renderChart,
  renderedFile,
} from '../../scripts/render-chart.ts'
import { fencedBlocks, readPage, root } from '../journeys/pages/page-steps.ts'
import { kubernetesProblems, type KubernetesObject } from './validate-manifest.ts'

const objectsIn = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null)

interface PodTemplate {
  readonly spec: PodSpec
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly Readonly<Record<string, unknown>>[]
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[]
  readonly volumes?: readonly Readonly<Record<string, unknown>>[]
}

const rendered = (mode: (typeof chartModes)[number]): readonly KubernetesObject[] =>
  objectsIn(readFileSync(renderedFile(mode), 'utf8'))

function find<Spec>(
  objects: readonly KubernetesObject[],
  kind: string,
): { readonly spec: Spec; readonly data?: unknown } {
  const object = objects.find((one) => one.kind === kind)
  assert.ok(object, `no ${kind}`)
  return object as unknown as { readonly spec: Spec }
}

const podOf = (objects: readonly KubernetesObject[], kind: string): PodSpec =>
  find<{ readonly template: PodTemplate }>(objects, kind).spec.template.spec

const configOf = (objects: readonly KubernetesObject[]): Record<string, unknown> => {
  const { data } = find(objects, 'ConfigMap') as { readonly data: Readonly<Record<string, string>> }
  return parse(data['parley.yaml'] ?? '') as Record<string, unknown>
}

for (const mode of chartModes) {
  describe(`the Helm chart, ${mode}`, () => {
    const objects = rendered(mode)

    it('was rendered after its last change: `npm run chart` renders it', () => {
      assert.ok(readFileSync(renderedFile(mode), 'utf8').startsWith('# Rendered'))
      assert.ok(readFileSync(renderedFile(mode), 'utf8').includes(chartHash()))
    })

    it('has objects that are valid by the schemas of Kubernetes and of the Prometheus operator', () => {
      assert.ok(objects.length >= 5)
      for (const object of objects)
        assert.deepEqual(kubernetesProblems(object), [], `${object.kind} ${object.metadata.name}`)
    })

    it('is checked by schemas that find a misspelled field', () => {
      const service = objects.find(({ kind }) => kind === 'Service')
      assert.ok(service)
      const { spec } = service as { readonly spec?: object }
      assert.match(kubernetesProblems({ ...service, spec: { ...spec, slector: {} } }).join('\n'), /slector/)
    })

    it('has pods that meet the restricted profile, with a read-only root and without a token', () => {
      const kind = mode === 'single' ? 'StatefulSet' : 'Deployment'
      for (const pod of [podOf(objects, kind), find<PodSpec>(objects, 'Pod').spec]) {
        assert.equal(pod.automountServiceAccountToken, false)
        const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext
        assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile], [true, 65532, { type: 'RuntimeDefault' }])
        for (const { securityContext } of pod.containers)
          assert.deepEqual(securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
      }
    })

    it('gives a pod the time to drain: preStop, and the 30 s after which the hub ends in any case', () => {
      const pod = podOf(objects, mode === 'single' ? 'StatefulSet' : 'Deployment')
      const [{ lifecycle, readinessProbe, livenessProbe } = {}] = pod.containers
      const { seconds } = (lifecycle as { preStop: { sleep: { seconds: number } } }).preStop.sleep
      assert.ok(seconds > 0 && pod.terminationGracePeriodSeconds > seconds + 30)
      const probe = (value: unknown): unknown => {
        const { httpGet, timeoutSeconds } = value as { httpGet: { path: string }; timeoutSeconds: number }
        return [httpGet.path, timeoutSeconds]
      }
      assert.deepEqual(
        [probe(readinessProbe), probe(livenessProbe)],
        [
          ['/readyz', 3],
          ['/healthz', 5],
        ],
      )
    })

    const found = findHelm()
    const skip = 'missing' in found ? found.missing : false

    it('is rendered by helm as the tests validate it, and has nothing that helm objects to', { skip }, () => {
      assert.ok('helm' in found)
      const byName = (list: readonly KubernetesObject[]): readonly KubernetesObject[] =>
        list.toSorted((one, other) =>
          `${one.kind} ${one.metadata.name}`.localeCompare(`${other.kind} ${other.metadata.name}`),
        )
      assert.deepEqual(byName(objectsIn(renderChart(found.helm, mode))), byName(objects))
      const lint = spawnSync(found.helm, ['lint', '--strict', ...chartArguments(mode)], { encoding: 'utf8' })
      assert.equal(lint.status, 0, lint.stdout + lint.stderr)
    })

    it('refuses values that it does not know, and names what is missing', { skip }, () => {
      assert.ok('helm' in found)
      const problem = (...values: string[]): string => {
        const sets = values.flatMap((value) => ['--set', value])
        const run = spawnSync(found.helm, ['template', 'hub', ...chartArguments(mode), ...sets], { encoding: 'utf8' })
        assert.notEqual(run.status, 0)
        return run.stderr
      }
      assert.match(problem('replcas=2'), /replcas/)
      assert.match(problem('config.admin.key=secret'), /config/)
      assert.match(problem('image.repository='), /image\.repository is required/)
      assert.match(problem('store.kind=postgres', 'existingSecret='), /existingSecret/)
      const postgres = ['store.kind=postgres', 'existingSecret=parley']
      assert.match(
        problem(...postgres, 'autoscaling.enabled=true', 'autoscaling.minReplicas=11'),
        /minReplicas is above/,
      )
    })
  })
}

describe('the Helm chart with SQLite', () => {
  const objects = rendered('single')

  it('runs one pod, never two, on a volume that outlives the release', () => {
    const { spec } = find<{
      readonly replicas: number
      readonly persistentVolumeClaimRetentionPolicy: unknown
      readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[]
    }>(objects, 'StatefulSet')
    assert.equal(spec.replicas, 1)
    assert.deepEqual(spec.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' })
    assert.deepEqual(
      spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
      ['data'],
    )
  })

  it('has no object that needs several replicas', () => {
    const kinds = objects.map(({ kind }) => kind).sort()
    assert.deepEqual(kinds, ['ConfigMap', 'Pod', 'Service', 'ServiceAccount', 'StatefulSet'])
  })
})

describe('the Helm chart with PostgreSQL', () => {
  const objects = rendered('production')

  it('has everything that replicas need', () => {
    const kinds = new Set(objects.map(({ kind }) => kind))
    const needed = [
      'Deployment',
      'HorizontalPodAutoscaler',
      'PodDisruptionBudget',
      'NetworkPolicy',
      'ServiceMonitor',
      'Ingress',
    ]
    assert.deepEqual(
      needed.filter((kind) => !kinds.has(kind)),
      [],
    )
    const { spec } = find<{ readonly replicas?: number; readonly strategy: unknown }>(objects, 'Deployment')
    // The autoscaler owns the number of replicas: an upgrade must not reset it.
    assert.equal(spec.replicas, undefined)
    assert.deepEqual(spec.strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
    const spread = podOf(objects, 'Deployment').topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)
    assert.deepEqual(spread, ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'])
  })

  it('admits the pod of helm test beside the callers that the network policy names', () => {
    interface Policy {
      readonly ingress: readonly { readonly from?: readonly object[] }[]
    }
    const { metadata } = objects.find(({ kind }) => kind === 'Pod') as unknown as {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    }
    const { ingress } = find<Policy>(objects, 'NetworkPolicy').spec
    assert.deepEqual(ingress.at(-1)?.from, [{ podSelector: { matchLabels: metadata.labels } }])
  })

  it('has secrets by reference only: files of a secret that exists', () => {
    assert.ok(!objects.some(({ kind }) => kind === 'Secret'))
    const { store, admin } = configOf(objects)
    const file = (name: string): string => `\${file:/run/secrets/parley/${name}}`
    assert.deepEqual(store, { url: file('database-url'), masterKey: file('master-key') })
    assert.deepEqual(admin, { key: file('admin-key') })
    const volumes = podOf(objects, 'Deployment').volumes ?? []
    assert.ok(volumes.some(({ secret }) => (secret as { secretName?: string } | undefined)?.secretName === 'parley'))
  })

  it('advertises the address of the ingress', () => {
    const { publicUrl, grpcUrl, trustProxy } = configOf(objects)
    assert.deepEqual([publicUrl, grpcUrl, trustProxy], ['https://hub.example.com', 'hub.example.com:443', true])
  })
})

describe('the values of the Helm chart', () => {
  const schema = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')) as object
  const validate = new Ajv({ strict: false }).compile(schema)
  const defaults = parse(readFileSync(join(chartFolder, 'values.yaml'), 'utf8')) as object
  const isValid = (values: object): boolean => validate({ ...defaults, ...values })

  it('cannot have a disruption budget that blocks the drain of a node', () => {
    const isValidBudget = (maxUnavailable: number | string): boolean =>
      isValid({ podDisruptionBudget: { enabled: true, maxUnavailable } })
    assert.deepEqual([1, 2, '50%', '100%'].map(isValidBudget), [true, true, true, true])
    assert.deepEqual([0, -1, '0%', '0', ''].map(isValidBudget), [false, false, false, false, false])
  })

  it('cannot override ports and the store, which the chart sets, by variables', () => {
    const isValidVariable = (name: string): boolean => isValid({ extraEnv: [{ name, value: 'x' }] })
    assert.ok(isValidVariable('HTTPS_PROXY'))
    for (const name of ['BIND_HOST', 'PORT', 'GRPC_PORT', 'PARLEY_CONFIG', 'PARLEY_DATA', 'PARLEY_STORE'])
      assert.ok(!isValidVariable(name), name)
  })
})

describe('the Helm chart with an ingress', () => {
  const found = findHelm()
  it(
    'leaves trustProxy, publicUrl and grpcUrl of config as they are',
    { skip: 'missing' in found && found.missing },
    () => {
      assert.ok('helm' in found)
      const sets = ['config.trustProxy=false', 'config.publicUrl=https://other.example.com', 'config.grpcUrl=other:443']
      const args = ['template', 'hub', ...chartArguments('production'), ...sets.flatMap((value) => ['--set', value])]
      const { publicUrl, grpcUrl, trustProxy } = configOf(
        objectsIn(execFileSync(found.helm, args, { encoding: 'utf8' })),
      )
      assert.deepEqual([publicUrl, grpcUrl, trustProxy], ['https://other.example.com', 'other:443', false])
    },
  )
})

describe('the Helm chart with listen.tls', () => {
  const found = findHelm()
  it('is probed, tested and scraped by HTTPS', { skip: 'missing' in found && found.missing }, () => {
    assert.ok('helm' in found)
    const tls = ['config.listen.tls.cert=/tls/tls.crt', 'config.listen.tls.key=/tls/tls.key']
    const sets = [...tls, 'serviceMonitor.enabled=true', 'serviceMonitor.tlsConfig.serverName=agents.example.com']
    const args = ['template', 'hub', ...chartArguments('production'), ...sets.flatMap((value) => ['--set', value])]
    const objects = objectsIn(execFileSync(found.helm, args, { encoding: 'utf8' }))
    for (const object of objects) assert.deepEqual(kubernetesProblems(object), [], object.metadata.name)
    const { endpoints } = find<{ readonly endpoints: readonly object[] }>(objects, 'ServiceMonitor').spec
    const [{ scheme, tlsConfig } = {}] = endpoints as readonly { scheme?: string; tlsConfig?: object }[]
    assert.deepEqual([scheme, tlsConfig], ['https', { serverName: 'agents.example.com' }])
    const [container] = find<PodSpec>(objects, 'Pod').spec.containers
    assert.match(String(container?.['args']), /^https:/)
    assert.deepEqual(container?.['env'], [{ name: 'NODE_TLS_REJECT_UNAUTHORIZED', value: '0' }])
  })
})

describe('docs/guides/deploy/kubernetes.md', () => {
  const blocks = fencedBlocks(readPage('docs/guides/deploy/kubernetes.md'))
  const files = blocks.filter(({ title }) => title !== undefined)
  const installs = blocks.flatMap(({ language, content }) => (language === 'sh' ? content.split('\n') : []))
  const found = findHelm()

  it('has values that are valid by the schema of the chart', () => {
    const schema = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')) as object
    const validate = new Ajv({ strict: false }).compile(schema)
    assert.deepEqual(
      files.map(({ title }) => title),
      ['single.yaml', 'production.yaml'],
    )
    for (const { title, content } of files) {
      // helm merges them over the defaults, which have the required keys.
      const defaults = parse(readFileSync(join(chartFolder, 'values.yaml'), 'utf8')) as object
      assert.ok(
        validate({ ...defaults, ...(parse(content) as object) }),
        `${title}: ${JSON.stringify(validate.errors)}`,
      )
    }
  })

  it('has commands that helm renders', { skip: 'missing' in found ? found.missing : false }, async () => {
    assert.ok('helm' in found)
    const folder = await mkdtemp(join(tmpdir(), 'parley-chart-'))
    after(() => rm(folder, { recursive: true, force: true }))
    for (const { title = '', content } of files) await writeFile(join(folder, title), content)
    const commands = installs.filter((line) => /^helm (install|upgrade) /.test(line))
    assert.equal(commands.length, 3)
    for (const command of commands) {
      // There is no cluster: the same arguments, rendered here.
      const words = command.replace(/^helm (install|upgrade)/, 'template').split(' ')
      const args = words.map((word) => (/^(single|production)\.yaml$/.test(word) ? join(folder, word) : word))
      const rendered: SpawnSyncReturns<string> = spawnSync(found.helm, [...args, '--kube-version', '1.30.0'], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.equal(rendered.status, 0, rendered.stderr)
      for (const object of objectsIn(rendered.stdout)) assert.deepEqual(kubernetesProblems(object), [], command)
    }
  })

  it(
    'installs into a cluster',
    { skip: 'there is no cluster here: the objects are validated by the schemas instead' },
    () => {},
  )
})
