/** What a push notification carries beside its payload. Sender and receiver take the names from here. */

export const pushHeaders = {
  /** The `token` of the config, as it was registered (B-126). */
  token: 'X-A2A-Notification-Token',
  /** Ours: the event's place in its task, the same as the `id:` of a stream. A delivery that is tried again keeps it. */
  eventId: 'A2A-Event-Id',
  /** Ours: the id of the config that asked for this. */
  configId: 'A2A-Push-Config-Id',
} as const

/** Claims of a sender's JWT beside the registered ones `iss`, `aud`, `iat`, `exp` and `jti` (B-134). */
export const pushClaims = {
  taskId: 'taskId',
  /** SHA-256 of the body's bytes in lower-case hex. The name is that of the protocol's own samples. */
  bodyHash: 'request_body_sha256',
} as const
