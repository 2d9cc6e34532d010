/** One kind of channel template. The ids, the slugs' spelling and the parameters are the sandbox's own choice. */
export interface TemplateType {
  channel_node_id: string
  channel_type_slug: 'email' | 'professional-network' | 'messaging'
  name: string
  parameters: readonly { key: string; is_required: boolean; max_length: number }[]
}

/**
 * Which parameters are valid depends on the channel and on its node (service.md, 4.4). Two nodes of a channel differ, so
 * that a caller who knows the channel alone gets one of them wrong.
 */
export const templateTypes: readonly TemplateType[] = [
  {
    channel_node_id: '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a01',
    channel_type_slug: 'email',
    name: 'E-mail',
    parameters: [
      { key: 'subject', is_required: true, max_length: 200 },
      { key: 'body', is_required: true, max_length: 10_000 },
      { key: 'preheader', is_required: false, max_length: 200 },
    ],
  },
  {
    channel_node_id: '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a02',
    channel_type_slug: 'email',
    name: 'E-mail reply',
    parameters: [{ key: 'body', is_required: true, max_length: 10_000 }],
  },
  {
    channel_node_id: '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a03',
    channel_type_slug: 'professional-network',
    name: 'Connection request',
    parameters: [{ key: 'note', is_required: false, max_length: 300 }],
  },
  {
    channel_node_id: '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a04',
    channel_type_slug: 'professional-network',
    name: 'Message',
    parameters: [{ key: 'message', is_required: true, max_length: 2_000 }],
  },
  {
    channel_node_id: '5b0c7a52-6f0e-4a8e-9d6c-0f5a3f1c1a05',
    channel_type_slug: 'messaging',
    name: 'Text message',
    parameters: [
      { key: 'text', is_required: true, max_length: 1_000 },
      { key: 'sender', is_required: false, max_length: 11 },
    ],
  },
]
