/**
 * Tests of the official conformance kit (a2aproject/a2a-tck) that the conformance agent does not pass, because the
 * kit and the text disagree, or because the kit does not do what its test says. All other tests pass, or are
 * skipped because they need TLS or a state that the kit cannot create.
 */

export interface KitDeviation {
  /** The branch or tag of the kit. */
  readonly kit: string
  readonly tests: readonly string[]
  /** The affected transports, if not all. */
  readonly on?: string
  /** The rules that we keep instead. */
  readonly ids: readonly string[]
  readonly why: string
}

export const kitDeviations: readonly KitDeviation[] = [
  {
    kit: '1.0-dev',
    tests: ['CORE-SEND-003'],
    ids: ['B-70'],
    why: 'Its title requires ContentTypeNotSupportedError, its code expects success. We refuse the media type.',
  },
  {
    kit: '1.0-dev',
    tests: ['test_response_content_type', 'test_error_uses_aip193_format', 'test_error_content_type'],
    on: 'REST',
    ids: ['F-8'],
    why: 'They expect `application/json`, as 1.0.0 did; since 1.0.1 it is `application/a2a+json`.',
  },
  {
    kit: '1.0-dev',
    tests: [
      'test_version_not_supported_returns_unimplemented',
      'test_unsupported_operation_returns_unimplemented',
      'test_push_not_supported_returns_unimplemented',
    ],
    on: 'gRPC',
    ids: ['A-21'],
    why: 'They expect UNIMPLEMENTED, as 1.0.0 did; since 1.0.1 it is FAILED_PRECONDITION.',
  },
  {
    kit: '1.0-dev',
    tests: ['CARD-EXT-001', 'CARD-EXT-002'],
    ids: ['B-136', 'B-137'],
    why: 'With an extended card: the kit sends no credentials and expects success, against the titles of the tests.',
  },
  {
    kit: '1.0-dev',
    tests: ['TestRestStreaming::test_streaming_content_type'],
    on: 'REST',
    ids: ['F-7'],
    why: 'Without streaming: the kit reads the error before it has fetched it (`httpx.ResponseNotRead`).',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_rejects_invalid_json_rpc_requests (invalid params type)'],
    on: 'JSON-RPC',
    ids: ['F-2', 'B-36'],
    why: 'The request also has no id, which is -32600 and is checked first. The kit on `main` gives it one.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_message_send_continue_with_contextid'],
    on: 'REST',
    ids: ['J-1', 'B-58'],
    why: 'The kit looks for `context_id`, overlooks `contextId`, and sends a made-up one, which is not that of the task.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_message_send_valid_file_part', 'test_message_send_valid_multiple_parts'],
    on: 'gRPC',
    ids: ['B-39'],
    why: 'The kit writes the address of its file as `url`, which its own gRPC client does not support, so it sends a part without content. Over JSON-RPC and REST we read it.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_message_send_data_part_array'],
    on: 'gRPC',
    ids: ['J-5'],
    why: 'The data is an array, which the proto of 0.3 cannot represent; the kit fails before it sends anything.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_invalid_method_error_validation'],
    ids: ['B-36'],
    why: 'The kit sends a whole request as `method`: that is -32600, not -32601.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_push_notification_not_supported_error_32003_enhanced'],
    ids: ['B-115'],
    why: 'The kit looks for the capability in the response envelope, where it never is, and then expects webhooks to be refused although they are declared. Passes with `--no-push`.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_public_agent_card_access_control'],
    ids: ['B-14'],
    why: 'The kit requests the card at the JSON-RPC endpoint, with GET.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_sensitive_information_protection'],
    ids: ['B-24'],
    why: 'The kit treats `localhost` in the card of a local agent as a leak.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_agent_card_access_equivalence'],
    ids: ['B-136', 'B-137'],
    why: 'The kit requests the extended card without credentials and expects success.',
  },
  {
    kit: '0.3.0.beta4',
    tests: ['test_authentication_required_when_declared'],
    ids: ['B-150'],
    why: 'With `--extended-card` a scheme is declared but not required, and the kit has no credentials. Passes with `--require-token`.',
  },
  {
    kit: 'main',
    tests: ['test_list_tasks_empty_when_none_exist', 'test_default_page_size', 'test_last_page_detection'],
    on: 'JSON-RPC, REST',
    ids: ['B-85'],
    why: 'They expect the number of tasks in `pageSize`; we return the limit that was used, as the examples of the text do.',
  },
  {
    kit: 'main',
    tests: ['test_task_cancel_state_handling'],
    ids: ['B-112'],
    why: 'It expects an error for a second cancel; in 1.0 the result is the same canceled task.',
  },
  {
    kit: 'main',
    tests: ['test_tasks_subscribe_nonexistent'],
    on: 'JSON-RPC',
    ids: ['F-7'],
    why: 'It reads the error from a stream; the newer kit expects a plain response, which we send.',
  },
  {
    kit: 'main',
    tests: ['test_tasks_subscribe', 'test_sse_event_format_compliance'],
    on: 'REST',
    ids: ['F-4'],
    why: 'The kit reuses one HTTP client across tests and event loops (`Event loop is closed`). Run alone, the second passes and the first is skipped.',
  },
  {
    kit: 'main',
    tests: ['test_consistent_behavior_tasks_cancel'],
    ids: ['J-2'],
    why: 'This branch is between 0.3 and 1.0: it expects `canceled` where 1.0 has `TASK_STATE_CANCELED`.',
  },
  {
    kit: 'v0.2.5, v0.2.3',
    tests: [
      'test_tasks_get_valid',
      'test_tasks_get_with_history_length',
      'test_tasks_cancel_valid',
      'test_message_send_continue_task',
      'test_task_history_length',
      'test_task_state_transitions',
      'test_tasks_cancel_already_canceled',
    ],
    ids: ['B-53', 'B-54'],
    why: 'The kit opens tasks under its own ids. An unknown `taskId` is refused; later kits no longer do this.',
  },
]
