/**
 * The transfers that the chain has logged for a wallet, and how far its logs were read, so that a comparison reads only what
 * is new. `scope` names network, token and wallet.
 */
export const chainTransfers = `
set local lock_timeout = '30s';
set local statement_timeout = '5min';
create table chain_checkpoints (
  scope text primary key,
  -- The last block whose logs were read. Final, so that no transfer in it can disappear.
  block bigint not null,
  -- Its hash, by which another chain behind the same address is noticed; null where a reading was interrupted.
  block_hash text,
  -- The logs up to this block were no longer kept by the node when they were read.
  gone_through bigint,
  -- The newest block of the last reading. Transfers after \`block\` may still be replaced, and are read again.
  head_block bigint not null,
  head_at timestamptz not null
);
create table chain_transfers (
  scope text not null,
  transaction text not null,
  -- -1: known from the token's state alone, because the logs are gone.
  log_index bigint not null,
  block bigint not null,
  recipient text not null,
  amount_atomic bigint not null,
  nonce text,
  primary key (scope, transaction, log_index)
);
create index chain_transfers_nonce on chain_transfers (nonce) where nonce is not null;
create index chain_transfers_block on chain_transfers (scope, block);
`
