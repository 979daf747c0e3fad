/** The public surface of `@parley/a2a`: a door or a name appears, disappears or moves only on purpose. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

const home = join(import.meta.dirname, '../packages/a2a')

interface Surface {
  /** What is there at run time. */
  readonly values: string
  /** What only the compiler sees. */
  readonly types: string
}

const doors: Readonly<Record<string, Surface>> = {
  '.': {
    values: `
      A2AError anonymous artifact authRequired clientToolsExtension credentialsExtension cursorExtension
      data delegationExtension fail file hasSettled idempotencyWindowMs inputRequired isInterrupted isRedacted isTerminal linkSignals mayResend memoryNotes memoryStore newId reject
      readTraceparent reply spanIdOfEvent spanIdOfPush spanIdOfTurn status timestampsExtension traceExtension traceIdOf
      traceIdOfTask traceparentOf
    `,
    types: `
      Abandoned Agent AgentCapabilities AgentCard AgentCardSignature AgentCount AgentExtension AgentFunction AgentInterface
      AgentLog AgentMessage AgentOutput AgentProvider AgentSkill Append Appended Artifact ArtifactOptions
      AskOptions Caller CancelTaskRequest ClaimedPush CredentialRequest DataPart DueTime ErrorCode
      ErrorDetails FeedEntry FileOptions GetTaskRequest IdempotencyKey InputOptions Json KeyRow LeasedTask LinkedSignal
      ListPage ListQuery ListTasksRequest ListTasksResponse LogRecord MemoryStoreOptions Message NewTask
      Note NoteQuery NoteWrite Notes OAuthFlows ObservableLike OpenSpan Operation Part Partition PushAttempt PushChange PushPage PushQuery PushRow RawPart RecordBody
      Report Resumed Retention Role SearchPage SearchQuery SecurityRequirement SecurityScheme SendMessageConfiguration
      SendMessageRequest SendMessageResponse SentMessage Snapshot Span SpanKind SpanOptions SpanOutcome StateCount StateReport Store StreamEvent Struct
      SubscribeToTaskRequest Task TaskArtifactUpdateEvent TaskChange TaskRow TaskState TaskStatus
      TaskStatusUpdateEvent TextPart TraceContext Turn UrlPart Violation WhenBusy
    `,
  },
  './client': {
    values: 'A2AError clearCardCache connect discover invoke',
    types: `
      Answer Attachment AuthAnswer AuthRequest Authenticator CallOptions CardSignature CardTrust Chat
      ChatOptions CheckedCard ChosenInterface ClientBinding ClientCall ClientLimits ClientLog
      ClientOutcome ClientTool ClientToolFunction ConnectOptions DeviceCodePrompt ErrorCode ErrorDetails
      EventStream Fetch Gathered Http InputQuestion Introduction Interceptor Invocation InvokeOptions JsonWebKeys
      MessageAnswer OAuthOptions OutgoingHttp Refused RemoteAgent Saying Secret SendOptions Session StoredToken
      StreamOperation StreamOptions TaskAnswer TokenCache VersionId Violation Wire WireCall WireEvent
      WireParts WireStream
    `,
  },
  './server': {
    values: `
      ConfigError JsonMeter allOf anonymous anyOf apiKey authorityOf basic bearer clientTools clockOf createHandler credentials cursor cursorExtension defaultJsonNodes exceedsJsonNodes flatTask guests hashApiKey measureJson messageOfTaskSend mtls pushClaims pushHeaders readTaskSend readableName skillOfTool systemClock timestamps trace verifyMasterKey webhook whatIsWrongWithName wireFrames
    `,
    types: `
      Admission Admit AgentSettings AgentsOption Answered ApiKeyOptions Asking Authenticate BasicOptions
      BearerOptions Binding CallContext CallTerms Caller CardPatch CardSigning CardVariant ClientCertificate Clock ClockOptions Credentials Delivery
      DeliveryHandler EndpointVariant Engine EngineLog EngineRetention EventAbout ExtendedCard Extension FetchHandler FlatTaskOptions GrpcHandler Handler HandlerAgents HandlerOptions HandlerPush HandlerReaders HouseOptions Idempotency JsonSize JwtBearerOptions Limits MessageAbout MtlsOptions NodeHandler NodeRequest NodeResponse NotificationTokens OnAnswer OnEvent OnStream OpaqueBearerOptions PushCursor PushCursorPage PushJwtOptions PushNews PushOptions PushTriggers Sealer Signer SigningKey SigningKeys StreamHandle StreamItem TaskDesk TaskSend TenantOptions ToolDescription TransformEvent VariantRequest Webhook WebhookOptions WireFrame WireObject
    `,
  },
  './node': {
    values: 'clientNetwork guardedFetch guardedLookup guardedWebhooks serve',
    types:
      'ConnectionCounts ConnectionLimits Front GuardOptions ServeOptions ServePushOptions ServeTls Server WebhookGuard WebhookGuardOptions',
  },
  './grpc': {
    values: 'createGrpcServer grpc',
    types: 'GrpcBinding GrpcOptions GrpcServer GrpcServerOptions GrpcTls',
  },
  './simple': {
    values: `
      ExternalServiceError NotFoundError ValidationError buildAgentCard buildAgentCardForAgent clearAgentCardCache
      clearTaskStore discoverAgent fetchAgentCard handleTaskGet handleTaskSend invokeRemoteAgent
    `,
    types: 'A2AAgentCard A2AMessage A2ATask A2ATaskDeps A2ATaskSendRequest A2ATaskState RemoteInvocationResult',
  },
  './stores/sqlite': {
    values: 'masterKeyBeside sqliteStore',
    types: 'SqliteStoreOptions',
  },
  './stores/postgres': {
    values: 'postgresStore',
    types: 'ListenClient PostgresPool PostgresQuery PostgresStoreOptions',
  },
  './testing': {
    values: 'agentContract storeContract testAgent',
    types: `
      AgentBench AgentHarness Exchange OpenStore OpenedStore Saying SendOptions StoreContractOptions TestAgent
      TestAgentOptions TestStream
    `,
  },
}

interface Door {
  readonly 'parley-source': string
  readonly types: string
  readonly default: string
}

describe('the doors of @parley/a2a', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { exports: Record<string, Door> }

  it('are these and no others [S4-11]', () => {
    assert.deepEqual(Object.keys(manifest.exports).sort(), Object.keys(doors).sort())
  })

  for (const [door, { values, types }] of Object.entries(doors)) {
    it(`${door} leads to one source file, built beside its types`, () => {
      const { 'parley-source': source, types: declared, default: built } = manifest.exports[door]!
      assert.ok(existsSync(join(home, source)), `${source} does not exist`)
      const compiled = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '')
      assert.deepEqual([built, declared], [`${compiled}.js`, `${compiled}.d.ts`])
    })

    it(`${door} exports the values listed here`, async () => {
      const module = (await import(`@parley/a2a${door.slice(1)}`)) as object
      assert.deepEqual(Object.keys(module).sort(), words(values))
    })

    it(`${door} exports the types listed here`, () => {
      assert.deepEqual(typesOf(join(home, manifest.exports[door]!['parley-source'])), words(types))
    })
  }
})

function words(list: string): readonly string[] {
  return list
    .split(/\s+/)
    .filter((word) => word !== '')
    .sort()
}

/** Types leave no trace at run time, so they are read off the text of the door. */
function typesOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const declared = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map((match) => match[1] ?? '')
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, typeOnly, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (typeOnly !== undefined || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '').replace(/^.* as /, '')),
  )
  const passedOn = [...text.matchAll(/^export (?:type )?\* from '(.*)'/gm)].flatMap((match) =>
    typesOf(join(dirname(file), match[1] ?? '')),
  )
  return [...new Set([...declared, ...listed, ...passedOn])].sort()
}
