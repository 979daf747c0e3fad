/**
 * The public surface of `@parley/a2a`: an entry point or a name appears, disappears or moves only on purpose. `./internal` has no promise:
 * it is what the packages of this repository share.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { exportedNames } from '../scripts/size.ts'

const home = join(import.meta.dirname, '../packages/a2a')

interface Surface {
  /** The exported values. */
  readonly values: string
  /** The exported types. */
  readonly types: string
}

const entryPoints: Readonly<Record<string, Surface>> = {
  '.': {
    values: `
      A2AError anonymous artifact authRequired clientToolsExtension credentialsExtension cursorExtension data
      fail file inputRequired isInterrupted isRedacted isTerminal memoryStore newId reject reply status
      timestampsExtension
    `,
    types: `
      AbandonedTask Agent AgentCard AgentFunction AgentInterface AgentLog AgentMessage AgentOutput AgentSkill
      Artifact AskOptions Caller CheckMessage ErrorCode ErrorDetails Json Message Part Report ResumeState
      SecurityScheme StreamEvent Struct Task TaskArtifactUpdateEvent TaskState TaskStatus
      TaskStatusUpdateEvent Turn TurnStore Violation WhenBusy
    `,
  },
  './client': {
    values: 'A2AError clearCardCache connect createAuthenticator discover invoke',
    types: `
      AgentResponse Attachment Authenticator CallOptions ClientBinding ClientCall ClientLimits ClientTool
      ConnectOptions Conversation DeviceCodePrompt DirectFetch EventFrame EventStream Fetch InputRequest
      Interceptor InvocationResult MessageInput MessageResponse OAuthOptions RemoteAgent Secret SendOptions
      StoredToken StreamOptions TaskResponse TokenCache VersionId
    `,
  },
  './server': {
    values: `
      ConfigError allOf allowAnonymous anyOf apiKey basic bearer clientTools createHandler credentials cursor
      hashApiKey legacyV03Draft mtls pushClaims pushHeaders timestamps trace webhook
    `,
    types: `
      AgentSettings Authenticate AuthenticatedCall BearerOptions Call CallConstraints CallContext CardPatch
      Delivery EndedCall EndpointVariant EventContext Extension FetchHandler Handler HandlerOptions Limits
      MessageContext NodeHandler OnEvent PushOptions ServerOptions TransformEvent Webhook
      WebhookOptions
    `,
  },
  './node': {
    values: 'guardedFetch guardedLookup guardedWebhooks nodeFetch serve',
    types: 'Middleware NodeFetchOptions ServeOptions Server',
  },
  './grpc': {
    values: 'createGrpcServer descriptorRegistry grpc',
    types: 'GrpcBinding GrpcOptions',
  },
  './command-line': {
    values: 'nearestName neutralize',
    types: '',
  },
  './simple': {
    values: `
      ExternalServiceError NotFoundError ValidationError buildAgentCard buildAgentCardForAgent
      clearAgentCardCache clearTaskStore discoverAgent fetchAgentCard handleTaskGet handleTaskSend
      invokeRemoteAgent
    `,
    types: `
      A2AAgentCard A2AMessage A2ATask A2ATaskDeps A2ATaskSendRequest A2ATaskState RemoteInvocationResult
    `,
  },
  './stores': {
    values: 'memoryKeyValueStore',
    types: `
      Append AppendResult ErasureStore FeedEntry FeedStore FullStore KeyRow KeyStore KeyValueEntry
      KeyValueStore KeyValueWrite ListPage ListQuery LogPage LogQuery LogRecord LogRow LogStore LogWrite NewTask
      Partition PushRow PushStore RecordBody Snapshot SnapshotStore Store StoredTask TaskChange TaskRow TaskStore
    `,
  },
  './stores/sqlite': {
    values: 'existingMasterKeys masterKeyFile sqliteStore',
    types: 'SqliteStoreOptions',
  },
  './stores/postgres': {
    values: 'postgresStore',
    types: 'PostgresPool PostgresStoreOptions',
  },
  './stores/dump': {
    values: `
      DumpError findReferences isMasterKeyOf postgresLoader postgresReader readDump readManifest
      recordPostgresBackup sqliteLoader sqliteReader storeOwnKind writeDump
    `,
    types: '',
  },
  './testing': {
    values: 'agentContract logStoreContract storeContract testAgent',
    types: 'AgentUnderTest TestAgent TestAgentOptions',
  },
  './adapters': {
    values: `
      RunRecorder currentTurn earlierMessages frameworkAgent incomingParts openRemoteAgentTool partText
    `,
    types: 'FrameworkAdapter FrameworkRun',
  },
  './adapters/ai-sdk': {
    values: 'a2aTool fromAiSdk',
    types: 'FromAiSdkOptions',
  },
  './adapters/claude': {
    values: 'fromClaude',
    types: 'FromClaudeOptions',
  },
  './adapters/langgraph': {
    values: 'a2aTool fromLangGraph langGraphSerializer',
    types: 'FromLangGraphOptions',
  },
  './adapters/mastra': {
    values: 'a2aTool fromMastra',
    types: 'FromMastraOptions',
  },
  './adapters/openai-agents': {
    values: 'a2aTool fromOpenAIAgents',
    types: 'FromOpenAIAgentsOptions',
  },
}

interface EntryPoint {
  readonly 'parley-source': string
  readonly types: string
  readonly default: string
}

describe('the entry points of @parley/a2a', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    exports: Record<string, EntryPoint>
  }

  it('are these and no others [S4-11]', () => {
    assert.deepEqual(Object.keys(manifest.exports).sort(), [...Object.keys(entryPoints), './internal'].sort())
  })

  it('export few names: 250 together, 60 from the root', () => {
    const counts = Object.entries(entryPoints).map(
      ([path, { values, types }]) => [path, words(values).length + words(types).length] as const,
    )
    const limits: Readonly<Record<string, number>> = { '.': 60, './server': 50, './client': 45 }
    assert.deepEqual(
      counts.filter(([path, count]) => count > (limits[path] ?? 250)),
      [],
    )
    assert.ok(
      counts.reduce((sum, [, count]) => sum + count, 0) <= 250,
      'what only the hub and the CLI need is in ./internal',
    )
  })

  for (const [path, { values, types }] of Object.entries(entryPoints)) {
    it(`${path} is one source file, built beside its types`, () => {
      const { 'parley-source': source, types: declared, default: built } = manifest.exports[path]!
      assert.ok(existsSync(join(home, source)), `${source} does not exist`)
      const compiled = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '')
      assert.deepEqual([built, declared], [`${compiled}.js`, `${compiled}.d.ts`])
    })

    it(`${path} exports the values listed here`, async () => {
      const module = (await import(`@parley/a2a${path.slice(1)}`)) as object
      assert.deepEqual(Object.keys(module).sort(), words(values))
    })

    it(`${path} exports the types listed here`, () => {
      assert.deepEqual(exportedNames(join(home, manifest.exports[path]!['parley-source'])).types, words(types))
    })
  }
})

function words(list: string): readonly string[] {
  return list
    .split(/\s+/)
    .filter((word) => word !== '')
    .sort()
}
