//! Every way of reading compared with a sorted map: random histories in own and shared keyspaces.

mod bed;
mod blocks;
mod caching;
mod concurrent;
mod damage;
mod histories;
mod planning;
mod rates;
mod views;
