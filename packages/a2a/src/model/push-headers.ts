/** The headers and claims of a push notification. Sender and receiver share these names. */

/** Header names of a push notification request. */
export const pushHeaders = {
  /** The `token` of the config, as it was registered (B-126). */
  token: 'X-A2A-Notification-Token',
  /** Ours: the position of the event in its task log, equal to the `id:` of a stream. A retried delivery keeps it. */
  eventId: 'A2A-Event-Id',
  /** Ours: the id of the push notification config. */
  configId: 'A2A-Push-Config-Id',
} as const

/** Claims of a sender's JWT beside the registered ones `iss`, `aud`, `iat`, `exp` and `jti` (B-134). */
export const pushClaims = {
  taskId: 'taskId',
  /** SHA-256 of the body bytes in lower-case hex. The protocol's own samples use this name. */
  bodyHash: 'request_body_sha256',
} as const
