/** The public surface of `@parley/a2a`: an entry point or a name appears, disappears or moves only on purpose. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

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
      A2AError abortable anonymous approvalMessage artifact asksForSecret authRequired canResend clientToolsExtension credentialsExtension
      cursorExtension data delegationExtension fail file hasSettled idempotencyWindowMs inputRequired
      isInterrupted isLoopbackHost isRedacted isStruct isTerminal linkSignals memoryKeyValueStore memoryStore newId omitUndefined optionOfKind parseOption readTraceparent
      reject reply sessionKey spanIdOfEvent spanIdOfPush spanIdOfTurn spanOutcomeOf status taskIdOfEvent taskStates timestampsExtension toProtoJson traceExtension traceIdOf
      traceIdOfTask traceparentOf urlOfAddress validateCard
    `,
    types: `
      AbandonedTask Agent AgentCapabilities AgentCard AgentCardSignature AgentCount AgentExtension AgentFunction
      AgentInterface AgentLog AgentMessage AgentOutput AgentProvider AgentSkill Append AppendResult ApprovalOption ApprovalQuestion Artifact
      ArtifactOptions AskOptions Caller CancelTaskRequest CheckMessage ClaimedPush Compaction CredentialRequest DataPart DueTime
      EntryAddress EraseOrder ErasedCounts ErasureStore ErrorCode ErrorDetails FeedEntry FeedStore FileOptions FullStore GetTaskRequest IdempotencyKey InputOptions Json
      KeyMaterialChange KeyRow KeyStore
      KeyValueEntry KeyValueQuery KeyValueStore KeyValueWrite LeasedTask LinkedSignal ListedTask ListPage ListQuery
      ListTasksRequest ListTasksResponse LogRecord MemoryStoreOptions Message NewTask OAuthFlows ObservableLike
      OmitUndefined OpenSpan Operation OrphanCounts Part Partition ProtoMessages PruneEstimate PruneKind PushAttempt PushBacklog PushChange PushPage PushQuery PushRow PushStore RawPart RecordBody
      Report ResumeState Retention Role SearchPage SearchQuery SecurityRequirement SecurityScheme
      SendMessageConfiguration SendMessageRequest SendMessageResponse SentMessage SessionScope Snapshot Span SpanKind
      SpanOptions SpanOutcome StateCount StateReport Store StoreBytes StoredTask StoreStatistics StreamEvent Struct SubscribeToTaskRequest Task
      TaskArtifactUpdateEvent TaskChange TaskRow TaskState TaskStatus TaskStatusUpdateEvent TaskStore TextPart
      TraceContext Turn TurnStore UrlPart Violation WhenBusy
    `,
  },
  './client': {
    values: 'A2AError clearCardCache connect createAuthenticator discover fetchAgentCard invoke keepUnknownFields',
    types: `
      AgentResponse Attachment AuthCredentials AuthRequest Authenticator AwaitableStream CallOptions
      CardSignature CardTrust CheckedCard ChosenInterface ClientBinding ClientCall ClientCallResult ClientLimits
      ClientLog ClientTool ClientToolFunction ClientTransport ClientTransportDeps ConnectOptions Conversation
      ConversationOptions CredentialHeaders DeviceCodePrompt DirectFetch DirectRequest ErrorCode ErrorDetails EventFrame EventStream Fetch FetchedAgentCard
      HttpAnswer HttpAnswerBody HttpBodyRead HttpClient InputRequest Interceptor InvocationResult InvokeOptions JsonWebKeySet MessageInput
      MessageResponse OAuthOptions OutgoingHttpRequest RejectedCredentials RemoteAgent Secret SendOptions
      Session StoredToken StreamOperation StreamOptions TaskResponse TokenCache TokenOrigin TransportCallOptions
      TransportStream VersionId Violation
    `,
  },
  './server': {
    values: `
      ConfigError JsonMeter allOf allowAnonymous anonymous anyOf apiKey authorityOf basic bearer bindingNames checkKey clientTools
      clockOf createHandler createTaskCheck credentials cursor cursorExtension defaultJsonNodes exceedsJsonNodes flatTask
      hashApiKey httpBindingNames isLocalRequest legacyV03Draft measureJson messageOfTaskSend mtls openSealer pushClaims pushHeaders readTaskSend readableName recordBytes recordsBytes skillOfTool
      systemClock taskBytes timestamps trace validateAgentName verifyMasterKey webhook wireFrames
    `,
    types: `
      AdmissionRequest AdmissionResult Admit AgentSettings AgentsOption ApiKeyOptions Authenticate BasicOptions
      BearerOptions BindingName CallConstraints CheckedBatch CheckedSnapshot CheckedTaskRow TaskCheck TaskProblem CallContext CallResult Caller CardPatch CardSigning CardVariant
      ClientCertificate Clock ClockOptions Credentials Delivery DeliveryHandler EndpointVariant Engine EngineLog
      EngineRetention EventContext ExtendedCard Extension FetchHandler FlatTaskOptions GrpcHandler Handler
      HandlerAgents HandlerCall HandlerCallOptions HandlerOptions HandlerPush HandlerReaders HttpBindingName Idempotency JsonSize JwtBearerOptions LargeReader Limits
      MessageContext MtlsOptions NodeHandler NodeRequest NodeResponse NotificationTokens OnAnswer OnEvent
      OnStream OpaqueBearerOptions PushCursor PushCursorPage PushJwtOptions PushOptions PushResult PushTriggers
      RequestOutcome ResponseMemory ResponsePart RotateSigningKeysOptions RotatedKeys Sealer ServerOptions Signer SigningKey SigningKeys StreamHandle StreamItem TaskAdmin TaskAtHead
      TaskEventStream TaskSend TenantOptions ToolDescription TransformEvent VariantRequest Webhook WebhookOptions WireFrame
      WireObject
    `,
  },
  './command-line': { values: 'nearestName neutralize', types: '' },
  './client/node': { values: 'nodeFetch', types: 'NodeFetchOptions' },
  './node': {
    values: 'clientNetwork guardedFetch guardedLookup guardedWebhooks nodeFetch serve',
    types: `
      ConnectionCounts ConnectionLimits GuardOptions Middleware NodeFetchOptions ServeOptions ServePushOptions ServeTls Server
      WebhookGuard WebhookGuardOptions
    `,
  },
  './grpc': {
    values: 'createGrpcServer descriptorRegistry grpc',
    types: 'GrpcBinding GrpcOptions GrpcServer GrpcServerOptions GrpcTls',
  },
  './simple': {
    values: `
      ExternalServiceError NotFoundError ValidationError buildAgentCard buildAgentCardForAgent
      clearAgentCardCache clearTaskStore discoverAgent fetchAgentCard handleTaskGet handleTaskSend
      invokeRemoteAgent
    `,
    types: 'A2AAgentCard A2AMessage A2ATask A2ATaskDeps A2ATaskSendRequest A2ATaskState RemoteInvocationResult',
  },
  './stores/sqlite': {
    values: 'existingMasterKeys masterKeyFile sqliteLoader sqliteReader sqliteStore',
    types: 'SqliteLoaderOptions SqliteStoreOptions',
  },
  './stores/postgres': {
    values: 'postgresLoader postgresReader postgresStore recordPostgresBackup',
    types:
      'ListenClient PooledClient PostgresClient PostgresDumpOptions PostgresPool PostgresQuery PostgresStoreOptions',
  },
  './stores/dump': {
    values:
      'DumpError findReferences isMasterKeyOf readBackup readBackupManifest readDump storeOwnKind writeBackup writeDump',
    types: `
      AttemptEntry BackupKeyring BackupManifest BackupSummary BlobEntry ClaimEntry DumpCounts DumpEntry DumpSummary JsonText KeyEntry
      KeyValueDumpEntry LogEntry PushEntry ReadBackupOptions ReadDumpOptions ReadEntriesOptions ReportFinding SnapshotEntry StoreDamage
      StoreFinding StoreFindingKind StoreKind StoreLoader StoreReader TableCheck TaskEntry TaskGroupEntry WriteBackupOptions
      WriteDumpOptions
    `,
  },
  './adapters': {
    values: `
      RunRecorder currentTurn earlierMessages fieldLines formProblems frameworkAgent importInstalled incomingParts
      openRemoteAgentTool parseInput parseValue partText recognizeFramework requiredFields schemaFields toJson
    `,
    types: `
      A2aToolOptions AdapterOptions AskUser ConversationMessage FrameworkAdapter FrameworkName FrameworkRun HistoryLimits
      ModelCallEvent ModelUsage RemoteAgentTool RemoteQuestion RemoteToolCall RunAnswer RunQuestion RunStart SchemaFields ToolCallEnd ToolCallEvent
    `,
  },
  './adapters/ai-sdk': {
    values: 'a2aTool fromAiSdk',
    types: `
      A2aToolOptions AdapterOptions AiSdkAgent AiSdkStreamResult AiSdkTool FromAiSdkOptions HistoryLimits ModelUsage
      RemoteQuestion
    `,
  },
  './adapters/langgraph': {
    values: 'a2aTool fromLangGraph langGraphSerializer',
    types: `
      A2aToolOptions AdapterOptions FromLangGraphOptions GraphSerializer HistoryLimits IsAnswer LangChainToolConfig
      LangChainToolOptions LangGraphAgent LangGraphGraph MessageMetadata ModelUsage
    `,
  },
  './adapters/mastra': {
    values: 'a2aTool fromMastra',
    types: `
      A2aToolOptions AdapterOptions FromMastraOptions HistoryLimits MastraAgent MastraThread MastraToolOptions
      ModelUsage
    `,
  },
  './adapters/openai-agents': {
    values: 'a2aTool fromOpenAIAgents',
    types: `
      A2aToolOptions AdapterOptions FromOpenAIAgentsOptions HistoryLimits ModelUsage OpenAIAgent OpenAIRunState
      OpenAIRunner OpenAIToolOptions
    `,
  },
  './adapters/claude': {
    values: 'fromClaude',
    types: 'AdapterOptions ClaudeAgent ClaudeQuery FromClaudeOptions HistoryLimits ModelUsage',
  },
  './testing': {
    values: `
      agentContract erasureStoreContract feedStoreContract keyStoreContract keyValueStoreContract pushStoreContract storeContract
      taskStoreContract testAgent
    `,
    types: `
      AgentExchange AgentHarness AgentUnderTest MessageInput OpenStore OpenedStore StoreContractOptions
      StoreWithErasure StoreWithFeed StoreWithPush
      TestAgent TestAgentOptions TestSendOptions TestStream
    `,
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
    assert.deepEqual(Object.keys(manifest.exports).sort(), Object.keys(entryPoints).sort())
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
      assert.deepEqual(typesOf(join(home, manifest.exports[path]!['parley-source'])), words(types))
    })
  }
})

function words(list: string): readonly string[] {
  return list
    .split(/\s+/)
    .filter((word) => word !== '')
    .sort()
}

/** Types leave no trace at run time, so they are read from the source text of the entry point. */
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
